"""Who is asked, in what order, and when somebody else is asked instead.

Providers come in, ready to be called and in order; clean hits go out, saying why they are from whom they are. The
router does not know which vendors there are, nor how they are called.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import ProviderFailed, ProviderRateLimited, ProviderUnreachable, SearchError
from kindly.models import Hits, ProviderResults, Query
from kindly.search.attempt import SearchAttempt, SetupHints, none_configured
from kindly.search.circuit_breaker import CircuitBreaker
from kindly.search.managed_provider import ManagedProvider
from kindly.search.parallel import Race, ask_several
from kindly.search.provider import Pace, SearchProvider
from kindly.search.provider_pacing import Pacer
from kindly.search.provider_stats import ProviderStats
from kindly.search.ranking.fusion import fuse
from kindly.search.ranking.postprocess import clean
from kindly.search.rate_limits import RateLimits
from kindly.search.result_cache import SearchCache
from kindly.search.state.state import State
from kindly.telemetry.trace import span

SEARCH_BUDGET_S = 9.5
"""For a whole search, however many providers it asks: with all of them down, the error comes within 10 s."""
CALL_TIMEOUT_S = 10.0
"""For the HTTP client: beyond what any call is given."""
RETRY_PAUSE_S = 0.5
"""Mean pause before the one retry; the real one is between half and one and a half of it."""
CACHE_TTL_S = 3600.0


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A provider as it is handed to the router."""

    provider: SearchProvider
    label: str
    """How sentences call it."""
    pace: Pace
    gauge: RateLimits
    """Told the headers of its answers by whoever makes its calls."""
    scraped: bool = False
    """Whether it reads results off pages meant for people."""


@dataclass(frozen=True, slots=True)
class Router:
    """The configured providers in order. With none, every search says what to set."""

    lanes: tuple[ManagedProvider, ...]
    ledger: ProviderStats
    cache: SearchCache
    clock: Clock
    choices: SetupHints
    width: int
    """How many are asked at once."""
    budget_s: float = SEARCH_BUDGET_S
    """For a whole search, however many are asked."""

    async def open(self) -> None:
        """Take up what earlier starts learned of the providers."""
        await self.ledger.load()
        for lane in self.lanes:
            lane.restore()

    async def aclose(self) -> None:
        """Keep what was learned."""
        await self.ledger.save()

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """Clean hits, at most `query.count`, of the first provider that answers, or of several at once.

        Raises:
            NoProvider: None is configured.
            SearchError: The first provider's error, if nobody answered.
        """
        if not self.lanes:
            raise none_configured(self.choices)
        try:
            with span("search") as step:
                hits = await self.cache(query, lambda: self._answer(query, deadline))
                step.note(provider=hits.provider, hits=len(hits.hits), cached=hits.cached)
            return hits
        finally:
            await self.ledger.save_if_due()

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline, concurrency: int
    ) -> list[Hits | SearchError]:
        """The outcome of each query, in their order; so many run at once, and a failure is its own query's only."""
        slots = anyio.CapacityLimiter(max(1, concurrency))
        outcomes: dict[int, Hits | SearchError] = {}

        async def run(index: int, query: Query) -> None:
            async with slots:
                try:
                    outcomes[index] = await self.search(query, deadline)
                except SearchError as error:
                    outcomes[index] = error

        async with anyio.create_task_group() as tasks:
            for index, query in enumerate(queries):
                tasks.start_soon(run, index, query)
        return [outcomes[index] for index in range(len(queries))]

    async def _answer(self, query: Query, deadline: Deadline) -> Hits:
        began = self.clock.monotonic()
        round_ = SearchAttempt(query, deadline.within(self.budget_s))
        ready = sum(lane.breaker.admits for lane in self.lanes)
        together = self.width > 1 and ready > 1
        hits = await (self._fused(round_) if together else self._first(round_))
        return replace(hits, took_ms=round((self.clock.monotonic() - began) * 1000))

    async def _first(self, round_: SearchAttempt) -> Hits:
        """The answer of the first that has one."""
        for index, lane in enumerate(self.lanes):
            if not lane.breaker.enter():
                round_.resting[lane.name] = lane.breaker.failures
                continue
            followers = sum(other.breaker.admits for other in self.lanes[index + 1 :])
            found = await self._outcome(round_, lane, followers)
            if isinstance(found, ProviderResults):
                return self._hits(round_, lane, found)
            if not found.try_next:
                break
        if not round_.failures:
            return await self._anyway(round_)
        raise round_.unanswered()

    async def _anyway(self, round_: SearchAttempt) -> Hits:
        """All rest: the one whose rest ends first is asked all the same, as giving up unheard helps nobody."""
        lane = min(self.lanes, key=lambda lane: lane.breaker.rest_s)
        del round_.resting[lane.name]
        lane.breaker.enter(forced=True)
        found = await self._outcome(round_, lane, 0)
        if isinstance(found, ProviderResults):
            return self._hits(round_, lane, found)
        raise round_.unanswered()

    async def _outcome(
        self, round_: SearchAttempt, lane: ManagedProvider, followers: int
    ) -> ProviderResults | SearchError:
        """What one found, or its failure, written down."""
        try:
            if followers:
                return await lane.ask(round_.query, round_.share(followers + 1))
            return await self._ask_last(round_, lane)
        except SearchError as error:
            round_.failures.append(error)
            return error

    async def _ask_last(self, round_: SearchAttempt, lane: ManagedProvider) -> ProviderResults:
        """Ask the one after whom nobody comes: a passing fault is tried once more."""
        pause_s = RETRY_PAUSE_S * (0.5 + self.clock.random())
        try:
            return await lane.ask(round_.query, round_.deadline)
        except (ProviderFailed, ProviderUnreachable) as error:
            if error.retry_after_s is not None or pause_s >= round_.deadline.remaining_s():
                raise
            fault = error
        await self.clock.sleep(pause_s)
        try:
            return await lane.ask(round_.query, round_.deadline)
        except ProviderRateLimited as again:
            if again.status is not None:
                raise
        raise fault  # the queue had no room for a retry, so nothing newer is known

    async def _fused(self, round_: SearchAttempt) -> Hits:
        """One list of what several found."""
        race = await ask_several(round_, self.lanes, self.width, self.clock.monotonic)
        round_.failures.extend(self._in_order(race.failures))
        answered = [lane for lane in self.lanes if lane.name in race.answers]
        if not answered:
            raise round_.unanswered()
        hits = fuse([(lane.name, race.answers[lane.name].hits) for lane in answered])
        first = answered[0]
        engines = (engine for lane in answered for engine in race.answers[lane.name].engines)
        return replace(
            self._hits(round_, first, replace(race.answers[first.name], hits=hits)),
            engines=tuple(dict.fromkeys(engines)),
            why=_why_fused(round_, race, [lane.name for lane in answered]),
        )

    def _in_order(self, failures: dict[str, SearchError]) -> list[SearchError]:
        return [failures[lane.name] for lane in self.lanes if lane.name in failures]

    def _hits(self, round_: SearchAttempt, lane: ManagedProvider, found: ProviderResults) -> Hits:
        alone = len(self.lanes) == 1
        return Hits(
            query=round_.query,
            hits=clean(round_.query, found.hits),
            provider=lane.name,
            failed=round_.failed,
            why=round_.why("only one configured" if alone else "first configured"),
            total=found.total,
            engines=found.engines,
            instance=found.instance,
            raw=found.raw,
        )


def build_router(
    entries: Sequence[ProviderEntry],
    *,
    choices: SetupHints,
    clock: Clock,
    state: State,
    fuse: int = 1,
    cache_ttl_s: float = CACHE_TTL_S,
) -> Router:
    """A router over these providers, in this order. Opening it is optional, and costs one look into the state."""
    ledger = ProviderStats(tuple(entry.provider.name for entry in entries), state, clock.time)
    lanes = tuple(
        ManagedProvider(
            entry.provider,
            CircuitBreaker(clock.monotonic),
            Pacer(entry.provider.name, entry.label, entry.pace, entry.gauge, clock.sleep),
            ledger,
            scraped=entry.scraped,
            clock=clock,
        )
        for entry in entries
    )
    return Router(lanes, ledger, SearchCache(cache_ttl_s, clock.monotonic), clock, choices, fuse)


def _why_fused(round_: SearchAttempt, race: Race, answered: list[str]) -> str:
    names = ", ".join(answered)
    told = f"fused from {names}" if len(answered) > 1 else f"only {names} answered"
    late = [f"{name} was too slow" for name in race.late]
    return "; ".join(filter(None, (told, round_.why(""), *late)))
