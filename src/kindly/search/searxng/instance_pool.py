"""Many public SearXNG instances as one provider: a search goes to the next one that is healthy and within its limits.

Requests, clock, randomness and state are passed in. No query is saved, logged or named in an error.
"""

import logging
import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import PoolExhausted, SearchError
from kindly.models import ProviderResults, Query
from kindly.search.pool_settings import POOL_NAME, PoolSettings
from kindly.search.provider import Pace
from kindly.search.searxng import instance_directory
from kindly.search.searxng.health_checks import HealthChecks, change_record
from kindly.search.searxng.instance_directory import InstanceDirectory
from kindly.search.searxng.instance_health import CLOCK_MARGIN_S, FailureContext, InstanceRecord
from kindly.search.searxng.instance_selection import MIN_ATTEMPT_S, InstanceSelection
from kindly.search.searxng.pool_storage import PoolStorage
from kindly.search.searxng.result_pages import FINISH_S, with_further_pages
from kindly.search.searxng.user_agents import user_agent
from kindly.storage.state import State

MAX_ATTEMPTS = 6
RESULTS_PAGE_LIMITS = (Pace(2, 20), Pace(8, 600), Pace(30, 3600))
"""Calls to one instance. SearXNG's limiter (`botdetection.ip_limit`) allows clients that load no stylesheet 2 calls in
20 s (BURST_MAX_SUSPICIOUS) and 10 in 600 s (LONG_MAX_SUSPICIOUS); 30 an hour is our own courtesy limit."""
MIN_USEFUL_S = 1.0
"""With less time left, no further instance is called."""
IDLE_AFTER_S = 3600.0
"""Without a search for so long, no instance is probed and no list is fetched."""

logger = logging.getLogger(__name__)


class PoolRequests(Protocol):
    """The pool's three kinds of requests; each raises a `SearchError` class."""

    async def instance_list(self, deadline: Deadline) -> bytes:
        """The bytes of searx.space's `instances.json`."""
        ...

    async def search(
        self, instance: str, query: Query, deadline: Deadline, user_agent: str
    ) -> ProviderResults:
        """The results of one instance."""
        ...

    async def probe(self, instance: str, deadline: Deadline) -> None:
        """Call an instance without searching."""
        ...


@dataclass(kw_only=True)
class InstancePool:
    """The public instances. Searches may run concurrently; `maintain` runs in the background."""

    requests: PoolRequests
    clock: Clock
    state: State
    settings: PoolSettings = field(default_factory=PoolSettings)
    limits: tuple[Pace, ...] = RESULTS_PAGE_LIMITS
    """The rate limits of one instance."""
    name: str = POOL_NAME
    _searched_at: float = field(init=False, default=-math.inf)
    _last_answer_at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        clock, settings, requests = self.clock, self.settings, self.requests
        self._storage = PoolStorage(clock, self.state, settings)
        self._directory = InstanceDirectory(
            requests.instance_list, self._storage, clock, settings.use_random_instances
        )
        self._selection = InstanceSelection(self._directory, self._storage, clock, self.limits)
        self._checks = HealthChecks(requests.probe, self._selection, self._storage, clock, settings)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The results of the first instance that answers, of as many of its pages as needed; `instance` names it.

        Raises:
            PoolExhausted: No instance answered in time, or none may be called now.
        """
        self._searched_at = self.clock.time()
        await self._directory.refresh(deadline)
        min_useful_s = MIN_USEFUL_S + self.settings.request_delay_ms[1] / 1000
        attempted: list[str] = []
        while len(attempted) < MAX_ATTEMPTS:
            ready = await self._selection.ready(deadline, attempted, min_useful_s)
            if not ready:
                break
            url = ready[0].instance.url
            shares = min(len(ready), MAX_ATTEMPTS - len(attempted))
            attempted.append(url)
            share_s = max(MIN_ATTEMPT_S, deadline.remaining_s() / shares)
            found = await self._attempt(url, query, deadline.within(share_s))
            if found is not None:
                next_page = partial(self._next_page, url, deadline.minus(FINISH_S))
                return await with_further_pages(found, query, next_page)
        raise self._exhausted(tuple(attempted))

    async def run_health_checks(self) -> int:
        """Probe the instances that need it, if the pool is in use; returns how many."""
        return await self._checks.run() if self._is_in_use() else 0

    async def maintain(self) -> None:
        """Keep the list and the instances' health up to date, until cancelled."""
        while True:
            await self.clock.sleep(self.settings.health_check_interval_s)
            if self._is_in_use():
                await self._directory.refresh(Deadline.after(2 * instance_directory.TIMEOUT_S))
            await self.run_health_checks()

    def _is_in_use(self) -> bool:
        return self.clock.time() - self._searched_at <= IDLE_AFTER_S

    async def _next_page(
        self, url: str, deadline: Deadline, query: Query
    ) -> ProviderResults | None:
        """A further page of an instance, as soon as its rate limits allow it; None if that is too late or it failed."""
        free = await self._selection.wait_for(url, deadline)
        return await self._attempt(url, query, deadline) if free else None

    async def _attempt(self, url: str, query: Query, deadline: Deadline) -> ProviderResults | None:
        """An instance's results, or None if it failed; its record is updated in both cases."""
        record = self._storage.record(url)
        begun = record.next_start(self.clock.time())
        over = begun + deadline.remaining_s() + CLOCK_MARGIN_S
        await self._storage.put(url, record.started(begun, over, self.limits))
        await self.clock.sleep(self._delay_s())
        agent = user_agent(self.clock.random(), rotate=self.settings.rotate_user_agents)
        try:
            found = await self.requests.search(url, query, deadline, agent)
        except SearchError as error:
            await self._failed(url, begun, error)
            return None
        now = self._last_answer_at = self.clock.time()
        await change_record(
            self._storage, url, lambda record: record.ended(begun, now).succeeded(now)
        )
        return replace(found, instance=url)

    async def _failed(self, url: str, begun: float, error: SearchError) -> None:
        logger.info("SearXNG instance failed", extra={"instance": url, "outcome": str(error.kind)})
        context = FailureContext(self.clock.time(), self.clock.random(), self._last_answer_at)

        def fail(record: InstanceRecord) -> InstanceRecord:
            return record.ended(begun, context.now).failed(error, context, self.settings)

        await change_record(self._storage, url, fail)

    def _delay_s(self) -> float:
        low, high = self.settings.request_delay_ms
        return (low + (high - low) * self.clock.random()) / 1000

    def _exhausted(self, attempted: tuple[str, ...]) -> PoolExhausted:
        free_at = min((one.free_at for one in self._selection.candidates()), default=None)
        if free_at is None:
            free_at, why = self._directory.retry_at, "their list could not be fetched"
        elif attempted:
            why = f"{len(attempted)} were called and did not answer"
        else:
            why = "all are resting after failures or at their rate limit"
        return PoolExhausted(
            f"No available SearXNG instances: {why}.",
            provider=self.name,
            retry_after_s=max(1.0, free_at - self.clock.time()),
            attempted=attempted,
        )
