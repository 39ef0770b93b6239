"""Which instances may be called now, in what order: idle before busy, then by grade, then least recently called."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.frozen import frozen
from kindly.search.provider import Pace
from kindly.search.searxng.instance_directory import InstanceDirectory
from kindly.search.searxng.instance_health import InstanceRecord
from kindly.search.searxng.instance_list import Instance
from kindly.search.searxng.pool_storage import PoolStorage

MIN_ATTEMPT_S = 3.0
"""An attempt gets this much time, or its equal share of the time left if that is more."""
MAX_WAIT_S = 5.0
"""A search waits this long for an instance to become free, rather than fail."""


@frozen
class InstanceCandidate:
    """An instance, its record, and the moment from which it may be called."""

    instance: Instance
    record: InstanceRecord
    free_at: float


@dataclass
class InstanceSelection:
    """Chooses among the listed instances."""

    directory: InstanceDirectory
    storage: PoolStorage
    clock: Clock
    limits: tuple[Pace, ...]

    def candidates(self) -> list[InstanceCandidate]:
        """All listed instances."""
        return [
            InstanceCandidate(instance, record, record.free_at(self.limits))
            for instance in self.directory.instances
            for record in [self.storage.record(instance.url)]
        ]

    async def ready(
        self, deadline: Deadline, attempted: Collection[str], min_useful_s: float
    ) -> list[InstanceCandidate]:
        """Those that may be called now, in order; waits a little for one, if the deadline allows it."""
        while True:
            await self.storage.refresh()
            untried = [one for one in self.candidates() if one.instance.url not in attempted]
            if not untried or deadline.remaining_s() < min_useful_s:
                return []
            now = self.clock.time()
            wait_s = min(candidate.free_at for candidate in untried) - now
            if wait_s <= 0:
                return in_order(untried, now)
            if wait_s > min(MAX_WAIT_S, deadline.remaining_s() - MIN_ATTEMPT_S):
                return []
            await self.clock.sleep(wait_s)

    async def wait_for(self, url: str, deadline: Deadline) -> bool:
        """Wait until an instance may be called once more; false if that leaves no time for an attempt."""
        while True:
            await self.storage.refresh()
            wait_s = self.storage.record(url).free_at(self.limits) - self.clock.time()
            if max(0.0, wait_s) > deadline.remaining_s() - MIN_ATTEMPT_S:
                return False
            if wait_s <= 0:
                return True
            await self.clock.sleep(wait_s)


def in_order(candidates: Iterable[InstanceCandidate], now: float) -> list[InstanceCandidate]:
    """Candidates that are free, in the order in which to call them; those never called keep their order."""
    return sorted(
        (candidate for candidate in candidates if candidate.free_at <= now),
        key=lambda candidate: (
            candidate.record.is_busy(now),
            candidate.instance.tier,
            max((request.begun for request in candidate.record.requests), default=0.0),
        ),
    )
