"""Rate limits of one provider, learned from its response headers: quota left, allowed pace, pause before the next call.

Never raises, never waits.
"""

from collections.abc import Mapping

from kindly.clock import Clock
from kindly.concurrency.cooldown import Cooldown
from kindly.frozen import frozen
from kindly.net.rate_limit_headers import (
    QuotaWindow,
    exhausted_s,
    quota_policies,
    quota_windows,
    retry_after_s,
)
from kindly.search.provider import Pace

MAX_PAUSE_S = 86_400.0
"""The longest pause: within a day the user may have bought a larger plan."""
MAX_PACE_WINDOW_S = 60.0
"""Longer windows are quotas, not paces."""


@frozen
class Quota:
    """What is left of the largest window that a provider reported."""

    left: int
    limit: int | None = None
    reset_at: float | None = None
    """Seconds since the epoch."""


class RateLimits:
    """The limits of one provider."""

    def __init__(self, clock: Clock, per_minute: int | None = None) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._cooldown = Cooldown(clock.monotonic)
        self.quota: Quota | None = None
        self.pace: Pace | None = None
        """The pace that the provider reported, if it reported one."""

    @property
    def pause_s(self) -> float:
        """Seconds for which the provider must not be called; zero when it may be."""
        return self._cooldown.remaining_s

    def learn(self, headers: Mapping[str, str]) -> None:
        """Update the limits from the headers of any response."""
        now = self._clock.now()
        lower = {name.lower(): value for name, value in headers.items()}
        if (wait_s := retry_after_s(lower.get("retry-after"), now)) is not None:
            self.pause(wait_s)
        self.pause(exhausted_s(lower, now))
        if windows := list(quota_windows(lower, now)):
            self.quota = self._quota(max(windows, key=_size))
        if pace := pace_in(lower):
            self.pace = pace.at_most(self._per_minute)

    def pause(self, seconds: float) -> None:
        """Do not call the provider for that long; a longer current pause is kept."""
        self._cooldown.start(min(seconds, MAX_PAUSE_S))

    def _quota(self, window: QuotaWindow) -> Quota:
        reset_at = None if window.reset_s is None else self._clock.time() + window.reset_s
        return Quota(max(0, window.remaining), window.limit, reset_at)


def pace_in(headers: Mapping[str, str]) -> Pace | None:
    """The pace of a policy header: its shortest window of at most a minute."""
    paces = (
        Pace(policy.calls, policy.window_s)
        for policy in quota_policies(headers)
        if policy.window_s <= MAX_PACE_WINDOW_S
    )
    return min(paces, key=lambda pace: pace.per_s, default=None)


def _size(window: QuotaWindow) -> tuple[int, float]:
    return window.limit or 0, window.reset_s or 0.0
