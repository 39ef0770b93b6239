"""What a user can set for the pool of public SearXNG instances."""

from kindly.frozen import frozen

POOL_NAME = "searxng_pool"
"""The name of that provider."""


@frozen
class PoolSettings:
    """How the pool behaves."""

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
