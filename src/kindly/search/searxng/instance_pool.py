"""Many public SearXNG instances as one provider: Query → Found, from the next instance that is well and may be asked.

Discovery, requests and probes are passed in, as are clock, chance and memory; the rules are in `pool_record`. The pool
tells one instance from another and never looks at a query: none is kept, logged or named in an error.
"""

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
import anyio.to_thread

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import PoolExhausted, SearchError
from kindly.models import ProviderResults, Query
from kindly.search.provider import Pace
from kindly.search.searxng import instance_health as rules
from kindly.search.searxng.instance_health import InstanceRecord, InstanceState, Moment
from kindly.search.searxng.instance_list import Instance, parse_instances
from kindly.search.searxng.pool_settings import PoolSettings, Wire
from kindly.search.searxng.pool_storage import Listing, PoolStorage
from kindly.search.searxng.user_agents import user_agent
from kindly.search.state.state import State

NAME = "searxng_pool"
FIRST_DISCOVERY_SHARE = 0.5
"""Of the time left, what fetching the list may use while there is none."""
DISCOVERY_SHARE = 0.2
"""The same, when only a newer list is wanted."""
MIN_USEFUL_S = 1.0
"""With less time left, nobody is asked any more."""

logger = logging.getLogger(__name__)

Discover = Callable[[Deadline], Awaitable[bytes]]
"""The bytes of `instances.json`; raises a SearchError leaf."""
Ask = Callable[[str, Query, Deadline, str], Awaitable[ProviderResults]]
"""Instance, query, deadline and User-Agent → what it found; raises a SearchError leaf."""
Probe = Callable[[str, Deadline], Awaitable[None]]
"""Get an instance's front page, no search; raises a SearchError leaf."""


def only_json(_: str) -> Wire:
    """The wire with the lowest limit: safe whatever `ask` sends."""
    return "json"


def is_due(kept: Listing, now: float, settings: PoolSettings) -> bool:
    """Whether to fetch the list: it is missing or old, and was not just tried in vain.

    Times that lie ahead are those of a clock that was set back, and do not count.
    """
    if kept.instances and 0 <= now - kept.fetched_at < settings.discovery_ttl_s:
        return False
    pause_s = settings.discovery_stale_retry_s if kept.instances else settings.discovery_retry_s
    return not 0 <= now - kept.failed_at < pause_s


@dataclass(kw_only=True)
class InstancePool:
    """The public instances. `search` may run many times at once; `maintain` runs beside it."""

    discover: Discover
    ask: Ask
    probe: Probe
    clock: Clock
    state: State
    settings: PoolSettings = field(default_factory=PoolSettings)
    wire: Callable[[str], Wire] = only_json
    """What `ask` will use for an instance, which decides how often it may be asked."""
    name: str = NAME

    _book: PoolStorage = field(init=False)
    _round: tuple[Instance, ...] = field(init=False, default=())
    """The listed instances, in the order in which those never asked are asked."""
    _listing: Listing = field(init=False, default_factory=Listing)
    _discovering: anyio.Lock = field(init=False, default_factory=anyio.Lock)
    _searched_at: float = field(init=False, default=-math.inf)
    _answered_at: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        """Open the book; nothing is read yet."""
        self._book = PoolStorage(self.clock, self.state, self.settings)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """What the first instance that answers found; `instance` names it.

        Raises:
            PoolExhausted: No instance answered in time, or none may be asked now.
        """
        self._searched_at = self.clock.time()
        await self._discover_if_due(deadline)
        attempted: list[str] = []
        while len(attempted) < self.settings.max_attempts:
            ready = await self._ready(deadline, attempted)
            if not ready:
                break
            url = ready[0].instance.url
            shares = min(len(ready), self.settings.max_attempts - len(attempted))
            attempted.append(url)
            found = await self._attempt(url, query, self._share(deadline, shares))
            if found is not None:
                return found
        raise self._exhausted(tuple(attempted))

    async def run_health_checks(self) -> int:
        """Probe, in parallel, the instances that are due; how many were. None while nobody searches."""
        now = self.clock.time()
        if not self._is_in_use():
            return 0
        await self._book.refresh()
        due = [
            standing
            for standing in self._standings()
            if rules.is_probe_due(standing.record, now, self.settings)
        ]
        due.sort(key=lambda standing: standing.record.checked_at)
        at_once = anyio.CapacityLimiter(self.settings.probes_at_once)
        async with anyio.create_task_group() as checks:
            for standing in due[: self.settings.probes_per_round]:
                checks.start_soon(self._check, standing.instance.url, at_once)
        return min(len(due), self.settings.probes_per_round)

    async def maintain(self) -> None:
        """Keep the list and the instances' health fresh, until cancelled."""
        while True:
            await self.clock.sleep(self.settings.health_check_interval_s)
            if self._is_in_use():
                await self._discover_if_due(Deadline.after(self.settings.discovery_timeout_s * 2))
            await self.run_health_checks()

    def _is_in_use(self) -> bool:
        return self.clock.time() - self._searched_at <= self.settings.idle_after_s

    async def _discover_if_due(self, deadline: Deadline) -> None:
        """Have a list: the kept one while it is fresh, else a new one, else the kept one still.

        While somebody else fetches it, who has one goes on, and who has none waits as long as he may.
        """
        if self._listing.instances and self._discovering.locked():
            return
        with anyio.move_on_after(deadline.remaining_s()):
            await self._take_list(deadline)

    async def _take_list(self, deadline: Deadline) -> None:
        async with self._discovering:
            kept = await self._book.load_listing()
            if is_due(kept, self.clock.time(), self.settings):
                kept = await self._discovered(kept, deadline)
                await self._book.keep_listing(kept)
            if self._listing.instances != kept.instances:
                self._round = self._shuffled(kept.instances)
            self._listing = kept

    async def _discovered(self, kept: Listing, deadline: Deadline) -> Listing:
        share = DISCOVERY_SHARE if kept.instances else FIRST_DISCOVERY_SHARE
        allowed_s = min(self.settings.discovery_timeout_s, share * deadline.remaining_s())
        try:
            body = await self.discover(deadline.within(allowed_s))
            instances = await anyio.to_thread.run_sync(parse_instances, body)
        except SearchError as error:
            logger.warning(
                "no list of SearXNG instances",
                extra={"outcome": str(error.kind), "kept": len(kept.instances)},
            )
            return replace(kept, failed_at=self.clock.time())
        return Listing(instances, fetched_at=self.clock.time())

    def _shuffled(self, instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
        if not self.settings.use_random_instances:
            return instances
        return tuple(sorted(instances, key=lambda _: self.clock.random()))

    def _standings(self) -> list[InstanceState]:
        return [
            InstanceState(instance, record, rules.free_at(record, self._limits(instance.url)))
            for instance in self._round
            for record in [self._book.record(instance.url)]
        ]

    def _limits(self, url: str) -> tuple[Pace, ...]:
        return self.settings.limits(self.wire(url))

    async def _ready(self, deadline: Deadline, attempted: list[str]) -> list[InstanceState]:
        """Who may be asked now, in order; waits a little for one, if the deadline has room."""
        await self._book.refresh()
        untried = [
            standing for standing in self._standings() if standing.instance.url not in attempted
        ]
        if not untried or not self._has_time(deadline):
            return []
        now = self.clock.time()
        wait_s = max(0.0, min(standing.free_at for standing in untried) - now)
        if wait_s:
            affordable_s = deadline.remaining_s() - self.settings.min_attempt_s
            if wait_s > min(self.settings.max_wait_s, affordable_s):
                return []
            await self.clock.sleep(wait_s)
            return await self._ready(deadline, attempted)
        return rules.in_turn(untried, now)

    def _has_time(self, deadline: Deadline) -> bool:
        return deadline.remaining_s() >= MIN_USEFUL_S + self.settings.request_delay_ms[1] / 1000

    def _share(self, deadline: Deadline, shares: int) -> Deadline:
        return deadline.within(max(self.settings.min_attempt_s, deadline.remaining_s() / shares))

    async def _attempt(self, url: str, query: Query, deadline: Deadline) -> ProviderResults | None:
        """What the instance found, or None; either way its record says so."""
        record = self._book.record(url)
        begun = rules.beginning(record, self.clock.time())
        over = begun + deadline.remaining_s() + rules.MARGIN_S
        await self._book.put(url, rules.after_start(record, begun, over, self._limits(url)))
        await self.clock.sleep(self._delay_s())
        agent = user_agent(self.clock.random(), rotate=self.settings.rotate_user_agents)
        try:
            found = await self.ask(url, query, deadline, agent)
        except SearchError as error:
            moment = Moment(self.clock.time(), self.clock.random(), self._answered_at)
            fail = partial(rules.after_failure, error=error, moment=moment, settings=self.settings)
            outcome = str(error.kind)
            logger.info("SearXNG instance failed", extra={"instance": url, "outcome": outcome})
            await self._change(url, lambda record: fail(rules.after_end(record, begun, moment.now)))
            return None
        now = self._answered_at = self.clock.time()
        await self._change(
            url, lambda record: rules.after_success(rules.after_end(record, begun, now), now)
        )
        return replace(found, instance=url)

    async def _change(self, url: str, change: Callable[[InstanceRecord], InstanceRecord]) -> None:
        before = self._book.record(url)
        after = await self._book.change(url, change)
        if after.blacklisted_until > before.blacklisted_until:
            logger.warning("SearXNG instance blacklisted", extra={"instance": url})

    def _delay_s(self) -> float:
        low, high = self.settings.request_delay_ms
        return (low + (high - low) * self.clock.random()) / 1000

    async def _check(self, url: str, at_once: anyio.CapacityLimiter) -> None:
        async with at_once:
            change: Callable[[InstanceRecord], InstanceRecord]
            try:
                await self.probe(url, Deadline.after(self.settings.probe_timeout_s))
            except SearchError as error:
                now = self.clock.time()
                change = partial(
                    rules.after_failed_probe, error=error, now=now, settings=self.settings
                )
            else:
                change = partial(rules.after_probe, now=self.clock.time())
            await self._change(url, change)

    def _exhausted(self, attempted: tuple[str, ...]) -> PoolExhausted:
        now = self.clock.time()
        soonest = min((standing.free_at for standing in self._standings()), default=None)
        if soonest is None:
            retry_s = self._listing.failed_at + self.settings.discovery_retry_s - now
            why = "the list of them could not be had"
        else:
            retry_s = soonest - now
            why = (
                f"{len(attempted)} were asked and did not answer"
                if attempted
                else "all are unavailable, resting or at their rate limit"
            )
        wait_s = max(1.0, retry_s)
        return PoolExhausted(
            f"No available SearXNG instances: {why}. Try again in {wait_s:.0f} seconds, "
            "or set a search provider with a key.",
            provider=self.name,
            retry_after_s=wait_s,
            attempted=attempted,
        )
