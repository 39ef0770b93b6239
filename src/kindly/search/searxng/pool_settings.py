"""How the pool of public SearXNG instances behaves: what a user can set, and the rate limits of an instance."""

from dataclasses import dataclass

from kindly.search.provider import Pace

RESULTS_PAGE_LIMITS = (Pace(2, 20), Pace(8, 600), Pace(30, 3600))
"""Calls to one instance. SearXNG's limiter (`botdetection.ip_limit`) allows clients that load no stylesheet 2 calls in
20 s (BURST_MAX_SUSPICIOUS) and 10 in 600 s (LONG_MAX_SUSPICIOUS); 30 an hour is our own courtesy limit."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What a user can set."""

    health_check_interval_s: float = 300.0
    max_consecutive_failures: int = 3
    """So many failures in a row start the exponential back-off."""
    rate_limit_backoff_base_s: float = 60.0
    """The first back-off; each further one in a row is twice as long."""
    request_delay_ms: tuple[int, int] = (100, 500)
    """A random delay before each request."""
    rotate_user_agents: bool = True
    use_random_instances: bool = True
    """Start with a random instance of the best grade; otherwise with the best one."""
