"""The current list of public instances: fetched once a day, saved between starts, and kept if it cannot be renewed."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import anyio
import anyio.to_thread

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import SearchError
from kindly.search.searxng.instance_list import Instance, parse_instances
from kindly.search.searxng.pool_storage import Listing, PoolStorage

TTL_S = 86_400.0
RETRY_S = 300.0
"""Before the next try, without any list."""
STALE_RETRY_S = 3600.0
"""Before the next try, while an old list is usable."""
TIMEOUT_S = 10.0
FIRST_SHARE = 0.5
"""Of the time left: what fetching may use without any list."""
RENEWAL_SHARE = 0.2
"""The same, while an old list is usable."""

logger = logging.getLogger(__name__)


@dataclass
class InstanceDirectory:
    """The listed instances, in the order in which those never called are called."""

    fetch: Callable[[Deadline], Awaitable[bytes]]
    """Returns searx.space's `instances.json`."""
    storage: PoolStorage
    clock: Clock
    shuffle: bool
    instances: tuple[Instance, ...] = field(init=False, default=())
    _listing: Listing = field(init=False, default_factory=Listing)
    _lock: anyio.Lock = field(init=False, default_factory=anyio.Lock)

    @property
    def retry_at(self) -> float:
        """When a list is fetched again, while there is none."""
        return self._listing.failed_at + RETRY_S

    async def refresh(self, deadline: Deadline) -> None:
        """Make a list available: the saved one while it is fresh, else a new one, else the old one.

        If another task is fetching the list, callers with an old list use it; callers without one wait until their
        deadline.
        """
        if self._listing.instances and self._lock.locked():
            return
        with anyio.move_on_after(deadline.remaining_s()):
            async with self._lock:
                await self._update(deadline)

    async def _update(self, deadline: Deadline) -> None:
        listing = await self.storage.load_listing()
        if is_due(listing, self.clock.time()):
            listing = await self._fetched(listing, deadline)
            await self.storage.save_listing(listing)
        if self._listing.instances != listing.instances:
            self.instances = self._ordered(listing.instances)
        self._listing = listing

    async def _fetched(self, old: Listing, deadline: Deadline) -> Listing:
        share = RENEWAL_SHARE if old.instances else FIRST_SHARE
        allowed_s = min(TIMEOUT_S, share * deadline.remaining_s())
        try:
            body = await self.fetch(deadline.within(allowed_s))
            instances = await anyio.to_thread.run_sync(parse_instances, body)
        except SearchError as error:
            logger.warning(
                "no list of SearXNG instances",
                extra={"outcome": str(error.kind), "kept": len(old.instances)},
            )
            return replace(old, failed_at=self.clock.time())
        return Listing(instances, fetched_at=self.clock.time())

    def _ordered(self, instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
        if not self.shuffle:
            return instances
        return tuple(sorted(instances, key=lambda _: self.clock.random()))


def is_due(listing: Listing, now: float) -> bool:
    """Whether to fetch the list: it is missing or old, and the last try was not just now.

    Times in the future come from a clock that was set back, and do not count.
    """
    if listing.instances and 0 <= now - listing.fetched_at < TTL_S:
        return False
    pause_s = STALE_RETRY_S if listing.instances else RETRY_S
    return not 0 <= now - listing.failed_at < pause_s
