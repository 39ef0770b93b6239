"""How the pool of public SearXNG instances behaves, in numbers, with the facts behind them."""

from dataclasses import dataclass
from typing import Literal

from kindly.search.provider import Pace

Wire = Literal["json", "html"]
"""What an instance is asked for."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """The pool's rules. Times are in seconds unless the name says otherwise."""

    health_check_interval_s: float = 300.0
    max_consecutive_failures: int = 3
    """So many failures in a row bench an instance."""
    rate_limit_backoff_base_s: float = 60.0
    """The first rest after a refusal or a bench; each further one in a row is twice as long."""
    backoff_cap_s: float = 1800.0
    """The longest rest but for Retry-After. An instance that refuses us is then asked twice an hour, half of what its
    limiter allows; one that does so all day is blacklisted."""
    backoff_jitter: float = 0.25
    """A rest is up to this share longer, so that instances do not return all at once."""
    failed_rest_s: float = 30.0
    """How long one failure keeps an instance from being asked."""
    blacklist_after_strikes: int = 40
    """Refusals and benches in a row, about 19 hours of them, while others answered."""
    blacklist_after_nonsense: int = 5
    """Answers in a row that could not be read, while others answered."""
    blacklist_s: float = 3 * 86_400.0

    json_limits: tuple[Pace, ...] = (Pace(4, 3600),)
    """SearXNG's limiter (`botdetection.ip_limit`): API_MAX, refused requests counted too."""
    html_limits: tuple[Pace, ...] = (Pace(2, 20), Pace(8, 600), Pace(30, 3600))
    """Below the limiter's BURST_MAX_SUSPICIOUS (2 in 20 s) and LONG_MAX_SUSPICIOUS (10 in 600 s), which hold for
    clients that load no stylesheet; an hour is held to 30 out of courtesy."""
    request_delay_ms: tuple[int, int] = (100, 500)
    rotate_user_agents: bool = True
    use_random_instances: bool = True
    """Start the round at a random instance; else at the best of its grade."""

    max_attempts: int = 6
    min_attempt_s: float = 3.0
    """An attempt gets this much time, or its equal share of what is left if that is more."""
    max_wait_s: float = 5.0
    """A search waits this long for an instance to become free, rather than fail."""

    discovery_ttl_s: float = 86_400.0
    discovery_retry_s: float = 300.0
    """Before the list is tried again while there is none."""
    discovery_stale_retry_s: float = 3600.0
    """Before a newer list is tried again while an old one serves."""
    discovery_timeout_s: float = 10.0

    probe_timeout_s: float = 10.0
    probes_at_once: int = 5
    probes_per_round: int = 20
    idle_check_s: float = 3600.0
    """An instance not heard from for so long is probed."""
    idle_after_s: float = 3600.0
    """Without a search for so long, nobody is probed and no list is fetched."""

    def limits(self, wire: Wire) -> tuple[Pace, ...]:
        """How often an instance may be asked over this wire."""
        return self.json_limits if wire == "json" else self.html_limits
