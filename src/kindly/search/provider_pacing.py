"""The rate limit of one provider: calls wait in a leaky bucket, and for a pause that the provider requested.

A call that could only be made after its deadline fails without waiting.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kindly.budget import Deadline
from kindly.errors import ProviderRateLimited
from kindly.search.provider import Pace
from kindly.search.rate_limits import RateLimits

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

BISECTION_STEPS = 8
"""Halvings by which the free part of the bucket is found; the library only answers yes or no."""


@dataclass(slots=True)
class Pacer:
    """Delays calls to one provider."""

    name: str
    label: str
    """The provider's name in messages."""
    pace: Pace
    limits: RateLimits
    sleep: Callable[[float], Awaitable[None]]
    _bucket: "AsyncLimiter | None" = field(default=None, init=False)
    _bucket_pace: Pace | None = field(default=None, init=False)
    _queued: int = field(default=0, init=False)

    async def wait(self, deadline: Deadline) -> None:
        """Return when the provider may be called.

        Raises:
            ProviderRateLimited: That would be after the deadline.
        """
        self._refuse_if_late(self.limits.pause_s, deadline)
        await self._acquire(deadline)
        if pause_s := self.limits.pause_s:
            self._refuse_if_late(pause_s, deadline)
            await self.sleep(pause_s)

    async def _acquire(self, deadline: Deadline) -> None:
        bucket = self._current_bucket()
        if not bucket.has_capacity():
            self._refuse_if_late(self._wait_s(bucket), deadline)
        self._queued += 1
        try:
            await bucket.acquire()
        finally:
            self._queued -= 1

    def _wait_s(self, bucket: "AsyncLimiter") -> float:
        """Seconds until a new call could be made, after all that are queued."""
        free, step = 0.0, 0.5
        for _ in range(BISECTION_STEPS):
            if bucket.has_capacity(free + step):
                free += step
            step /= 2
        return (self._queued + 1 - free) * bucket.time_period / bucket.max_rate

    def _refuse_if_late(self, wait_s: float, deadline: Deadline) -> None:
        if wait_s and wait_s >= deadline.remaining_s():
            raise ProviderRateLimited(
                f"{self.label}'s rate limit allows no further call before the deadline.",
                provider=self.name,
                retry_after_s=round(wait_s, 1),
            )

    def _current_bucket(self) -> "AsyncLimiter":
        """The bucket for the current pace; calls that wait in an older one stay there."""
        pace = self.limits.pace or self.pace
        if self._bucket is None or self._bucket_pace != pace:
            from aiolimiter import AsyncLimiter

            calls = max(1.0, pace.calls)
            self._bucket = AsyncLimiter(calls, pace.per_s * calls / pace.calls)
            self._bucket_pace = pace
        return self._bucket
