"""Health checks: instances in back-off, or without an answer for long, are probed in parallel."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import SearchError
from kindly.search.pool_settings import PoolSettings
from kindly.search.searxng.instance_health import InstanceRecord
from kindly.search.searxng.instance_selection import InstanceSelection
from kindly.search.searxng.pool_storage import PoolStorage

TIMEOUT_S = 10.0
CONCURRENT_PROBES = 5
PROBES_PER_RUN = 20

logger = logging.getLogger(__name__)


@dataclass
class HealthChecks:
    """Probes instances and records the outcome."""

    probe: Callable[[str, Deadline], Awaitable[None]]
    """Calls an instance's own health check, not its search."""
    selection: InstanceSelection
    storage: PoolStorage
    clock: Clock
    settings: PoolSettings

    async def run(self) -> int:
        """Probe the instances that need it, the longest unchecked first; returns how many."""
        now = self.clock.time()
        await self.storage.refresh()
        due = [
            candidate
            for candidate in self.selection.candidates()
            if candidate.record.needs_probe(now, self.settings)
        ]
        due.sort(key=lambda candidate: candidate.record.checked_at)
        slots = anyio.CapacityLimiter(CONCURRENT_PROBES)
        async with anyio.create_task_group() as checks:
            for candidate in due[:PROBES_PER_RUN]:
                checks.start_soon(self._check, candidate.instance.url, slots)
        return min(len(due), PROBES_PER_RUN)

    async def _check(self, url: str, slots: anyio.CapacityLimiter) -> None:
        async with slots:
            change: Callable[[InstanceRecord], InstanceRecord]
            try:
                await self.probe(url, Deadline.after(TIMEOUT_S))
            except SearchError as error:
                change = partial(
                    InstanceRecord.probe_failed,
                    error=error,
                    now=self.clock.time(),
                    settings=self.settings,
                )
            else:
                change = partial(InstanceRecord.probe_succeeded, now=self.clock.time())
            await change_record(self.storage, url, change)


async def change_record(
    storage: PoolStorage, url: str, change: Callable[[InstanceRecord], InstanceRecord]
) -> None:
    """Change an instance's record; blacklisting is logged."""
    before = storage.record(url)
    after = await storage.change(url, change)
    if after.blacklisted_until > before.blacklisted_until:
        logger.warning("SearXNG instance blacklisted", extra={"instance": url})
