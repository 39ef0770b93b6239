"""The search router: which provider is called, in what order, and when the next one is called instead.

It is given providers in order and returns finished hits that say which provider they are from and why. It does not
know which vendors there are, nor how they are called.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import ProviderFailed, ProviderRateLimited, ProviderUnreachable, SearchError
from kindly.frozen import frozen
from kindly.models import Hits, ProviderResults, Query, Step
from kindly.redact import Redactor
from kindly.search.attempt import SearchAttempt, SetupHints, none_configured
from kindly.search.circuit_breaker import CircuitBreaker
from kindly.search.managed_provider import ManagedProvider
from kindly.search.parallel import ParallelSearch, search_in_parallel
from kindly.search.provider import SearchProvider
from kindly.search.provider_pacing import Pacer
from kindly.search.provider_stats import ProviderStats
from kindly.search.ranking.filters import applied, matching
from kindly.search.ranking.fusion import fuse
from kindly.search.ranking.postprocess import clean, visible
from kindly.search.result_cache import SearchCache
from kindly.storage.state import State
from kindly.telemetry.trace import span

CALL_TIMEOUT_S = 10.0
"""For the HTTP client: longer than any call may take."""
RETRY_PAUSE_S = 0.5
"""Mean pause before the one retry; the real one is between half and one and a half of it."""


@frozen
class ProviderEntry:
    """A provider and what the router needs to know about it."""

    provider: SearchProvider
    pacer: Pacer
    """Its rate limit."""
    scraped: bool = False
    """Whether it parses web pages meant for people."""
    pages: Callable[[Query], tuple[Query, ...]] = lambda query: (query,)
    """The searches, one page each, that together give as many results as a query asks for."""
    filters: Callable[[Query], frozenset[str]] = lambda query: frozenset()
    """The domain and date filters that the provider is sent for a query."""


@frozen
class RouterSettings:
    """How the router searches."""

    parallel: int = 1
    """Providers that are called concurrently, and whose results are fused."""
    cache_ttl_s: float = 3600.0
    budget_s: float = 9.5
    """For a whole search, however many providers it calls: with all of them down, the error comes within 10 s."""
    concurrency: int = 10
    """Queries of `search_all` that run concurrently."""
    queues: bool = False
    """Whether the last provider's rate limit is waited for until the call's deadline, and once more after HTTP 429.

    `budget_s` then counts from the moment at which the provider is called.
    """


@frozen
class Router:
    """The configured providers in order. Without any, every search fails with the settings to set."""

    providers: tuple[ManagedProvider, ...]
    stats: ProviderStats
    cache: SearchCache
    clock: Clock
    hints: SetupHints
    redactor: Redactor
    settings: RouterSettings

    async def open(self) -> None:
        """Load what earlier starts learned about the providers. Optional."""
        await self.stats.load()
        for provider in self.providers:
            provider.restore()

    async def aclose(self) -> None:
        """Save the statistics."""
        await self.stats.save()

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """At most `query.count` hits of the first provider that answers, or of several fused.

        Raises:
            NoProvider: None is configured.
            SearchError: The first provider's error, if none answered.
        """
        if not self.providers:
            raise none_configured(self.hints)
        try:
            with span(Step.SEARCH) as step:
                hits = await self.cache(query, lambda: self._search(query, deadline))
                step.note(provider=hits.provider, hits=len(hits.hits), cached=hits.cached)
            return hits
        finally:
            await self.stats.save_if_due()

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        """The hits or the error of each query, in their order."""
        slots = anyio.CapacityLimiter(max(1, self.settings.concurrency))
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

    async def _search(self, query: Query, deadline: Deadline) -> Hits:
        began = self.clock.monotonic()
        queue_until = deadline if self.settings.queues else None
        attempt = SearchAttempt(query, deadline.within(self.settings.budget_s), queue_until)
        available = sum(provider.breaker.allows_call for provider in self.providers)
        in_parallel = self.settings.parallel > 1 and available > 1
        hits = await (self._fused(attempt) if in_parallel else self._in_order(attempt))
        took_ms = round((self.clock.monotonic() - began) * 1000)
        return replace(visible(hits, self.redactor), took_ms=took_ms)

    async def _in_order(self, attempt: SearchAttempt) -> Hits:
        """The hits of the first provider that answers."""
        for index, provider in enumerate(self.providers):
            if not provider.breaker.enter():
                attempt.skipped[provider.name] = provider.breaker.failures
                continue
            followers = sum(other.breaker.allows_call for other in self.providers[index + 1 :])
            found = await self._call(attempt, provider, followers)
            if isinstance(found, ProviderResults):
                return self._hits(attempt, [provider], found)
            if not found.try_next:
                break
        if not attempt.failures:
            return await self._despite_open_breakers(attempt)
        raise attempt.error()

    async def _despite_open_breakers(self, attempt: SearchAttempt) -> Hits:
        """All breakers are open: call the provider that is due first, rather than fail without a call."""
        provider = min(self.providers, key=lambda provider: provider.breaker.open_s)
        del attempt.skipped[provider.name]
        provider.breaker.enter(force=True)
        found = await self._call(attempt, provider, 0)
        if isinstance(found, ProviderResults):
            return self._hits(attempt, [provider], found)
        raise attempt.error()

    async def _call(
        self, attempt: SearchAttempt, provider: ManagedProvider, followers: int
    ) -> ProviderResults | SearchError:
        """One provider's results, or its error, which is recorded."""
        try:
            if followers:
                return await provider.search(attempt.query, attempt.share(followers + 1))
            return await self._call_last(attempt, provider)
        except SearchError as error:
            attempt.failures.append(error)
            return error

    async def _call_last(
        self, attempt: SearchAttempt, provider: ManagedProvider
    ) -> ProviderResults:
        """Call the last provider; a temporary fault, or a refusal that can be waited for, is retried once."""
        until = attempt.queue_until or attempt.deadline
        limit_s = attempt.deadline.remaining_s() if attempt.queue_until else None
        try:
            return await provider.search(attempt.query, until, limit_s=limit_s)
        except (ProviderFailed, ProviderUnreachable, ProviderRateLimited) as error:
            pause_s = self._pause_s(attempt, provider, error)
            if pause_s is None or pause_s >= until.remaining_s():
                raise
            fault = error
        await self.clock.sleep(pause_s)
        try:
            return await provider.search(attempt.query, until, limit_s=limit_s)
        except ProviderRateLimited as refused:
            if refused.status is not None:
                raise
        raise fault  # our own rate limit refused the retry: the first error is the one to report

    def _pause_s(
        self, attempt: SearchAttempt, provider: ManagedProvider, error: SearchError
    ) -> float | None:
        """Seconds before a retry; None if there is none: without a queue, never while the provider asks to wait."""
        asked_s = error.retry_after_s or provider.pacer.limits.pause_s
        if isinstance(error, ProviderRateLimited):
            return asked_s if attempt.queue_until and error.status and asked_s else None
        if error.retry_after_s is not None:
            return None
        return RETRY_PAUSE_S * (0.5 + self.clock.random())

    async def _fused(self, attempt: SearchAttempt) -> Hits:
        """The hits of several providers, fused."""
        parallel = await search_in_parallel(
            attempt, self.providers, self.settings.parallel, self.clock.monotonic
        )
        answers, failures = parallel.answers, parallel.failures
        attempt.failures.extend(
            failures[provider.name] for provider in self.providers if provider.name in failures
        )
        answered = [provider for provider in self.providers if provider.name in answers]
        if not answered:
            raise attempt.error()
        names = [provider.name for provider in answered]
        hits = fuse([(name, answers[name].hits) for name in names])
        engines = (engine for name in names for engine in answers[name].engines)
        return replace(
            self._hits(attempt, answered, replace(answers[names[0]], hits=hits)),
            engines=tuple(dict.fromkeys(engines)),
            why=_why_fused(attempt, parallel, names),
        )

    def _hits(
        self, attempt: SearchAttempt, answered: Sequence[ManagedProvider], found: ProviderResults
    ) -> Hits:
        only_one = len(self.providers) == 1
        query, provider = attempt.query, answered[0]
        today = datetime.fromtimestamp(self.clock.time(), UTC).date()
        wanted = matching(query, found.hits, today)
        sent = frozenset.intersection(*(one.filters(query) for one in answered))
        return Hits(
            query=query,
            hits=clean(query, wanted),
            provider=provider.name,
            failed=attempt.failed,
            why=attempt.why("only one configured" if only_one else "first configured"),
            total=found.total,
            engines=found.engines,
            instance=found.instance,
            raw=found.raw,
            filters=applied(query, ", ".join(one.name for one in answered), sent),
            left_out=len(found.hits) - len(wanted),
        )


def build_router(
    entries: Sequence[ProviderEntry],
    *,
    clock: Clock,
    state: State,
    hints: SetupHints,
    redactor: Redactor,
    settings: RouterSettings = RouterSettings(),  # noqa: B008 - frozen
) -> Router:
    """A router over these providers, in this order."""
    stats = ProviderStats(tuple(entry.provider.name for entry in entries), state, clock.time)
    providers = tuple(
        ManagedProvider(
            entry.provider,
            CircuitBreaker(clock.monotonic),
            entry.pacer,
            stats,
            scraped=entry.scraped,
            clock=clock,
            pages=entry.pages,
            filters=entry.filters,
        )
        for entry in entries
    )
    cache = SearchCache(settings.cache_ttl_s, clock.monotonic)
    return Router(providers, stats, cache, clock, hints, redactor, settings)


def _why_fused(attempt: SearchAttempt, parallel: ParallelSearch, answered: list[str]) -> str:
    names = ", ".join(answered)
    source = f"fused from {names}" if len(answered) > 1 else f"only {names} answered"
    late = [f"{name} was too slow" for name in parallel.late]
    return "; ".join(filter(None, (source, attempt.why(""), *late)))
