"""When it is a call's turn: calls to one provider queue behind its rate limit, and behind a pause that it asked for.

A call never waits in vain: if its turn would come after its deadline, it is told so at once.
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

STEPS = 8
"""Halvings by which the free part of the next slot is found."""


@dataclass(slots=True)
class Pacer:
    """The queue before one provider."""

    name: str
    label: str
    """How sentences call it."""
    pace: Pace
    gauge: RateLimits
    sleep: Callable[[float], Awaitable[None]]
    _bucket: "AsyncLimiter | None" = field(default=None, init=False)
    _bucket_pace: Pace | None = field(default=None, init=False)
    _queued: int = field(default=0, init=False)

    async def turn(self, deadline: Deadline) -> None:
        """Come back when the provider may be asked.

        Raises:
            ProviderRateLimited: That would be after the deadline.
        """
        self._refuse_if_late(self.gauge.pause_s, deadline)
        await self._slot(deadline)
        if pause_s := self.gauge.pause_s:
            self._refuse_if_late(pause_s, deadline)
            await self.sleep(pause_s)

    async def _slot(self, deadline: Deadline) -> None:
        bucket = self._current_bucket()
        if not bucket.has_capacity():
            self._refuse_if_late(self._wait_s(bucket), deadline)
        self._queued += 1
        try:
            await bucket.acquire()
        finally:
            self._queued -= 1

    def _wait_s(self, bucket: "AsyncLimiter") -> float:
        """Seconds until a newcomer's turn, if all who wait take theirs."""
        free, step = 0.0, 0.5
        for _ in range(STEPS):
            if bucket.has_capacity(free + step):
                free += step
            step /= 2
        return (self._queued + 1 - free) * bucket.time_period / bucket.max_rate

    def _refuse_if_late(self, wait_s: float, deadline: Deadline) -> None:
        if wait_s and wait_s >= deadline.remaining_s():
            raise ProviderRateLimited(
                f"{self.label}'s rate limit leaves no room for another call in time: "
                "wait, or check its plan.",
                provider=self.name,
                retry_after_s=round(wait_s, 1),
            )

    def _current_bucket(self) -> "AsyncLimiter":
        """The bucket for the pace as it is known now; those who wait at an older one stay there."""
        pace = self.gauge.pace or self.pace
        if self._bucket is None or self._bucket_pace != pace:
            from aiolimiter import AsyncLimiter

            calls = max(1.0, pace.calls)
            self._bucket = AsyncLimiter(calls, pace.per_s * calls / pace.calls)
            self._bucket_pace = pace
        return self._bucket
