"""One provider with everything around a call to it: circuit breaker, rate limit, time-out and statistics.

It does not know other providers; the router decides which one to call.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import PoolExhausted, ProviderBlocked, ProviderTimeout, SearchError
from kindly.frozen import frozen
from kindly.models import OutcomeKind, ProviderResults, Query, Step
from kindly.search.circuit_breaker import CircuitBreaker
from kindly.search.provider import SearchProvider
from kindly.search.provider_pacing import Pacer
from kindly.search.provider_stats import BreakerState, ProviderStats
from kindly.search.ranking.filters import spare_count
from kindly.search.ranking.relevance import looks_unrelated
from kindly.telemetry.trace import span

OVERTIME_S = 0.1
"""Added to the deadline before a provider that ignores it is cancelled."""
FULL_PAGE = 0.5
"""A page with less than this share of the results that were asked for is the last one."""
FAIR_CHANCE_S = 1.0
"""A time-out after less time than this does not count against the provider."""


@frozen
class ManagedProvider:
    """A provider, ready to be called."""

    provider: SearchProvider
    breaker: CircuitBreaker
    pacer: Pacer
    stats: ProviderStats
    scraped: bool
    """Whether it parses web pages meant for people; such sites may answer a robot with unrelated results."""
    clock: Clock
    pages: Callable[[Query], tuple[Query, ...]] = lambda query: (query,)
    """The searches, one page each, that together give as many results as a query asks for."""
    filters: Callable[[Query], frozenset[str]] = lambda query: frozenset()
    """The domain and date filters that the provider is sent for a query."""

    @property
    def name(self) -> str:
        return self.provider.name

    async def search(
        self, query: Query, deadline: Deadline, *, limit_s: float | None = None
    ) -> ProviderResults:
        """The provider's results, as soon as its rate limit allows the call. The breaker must have been entered.

        `limit_s` bounds the call itself, without the wait before it. The first page of results must arrive; of the
        further pages, those that arrive before the deadline are used.

        Raises:
            SearchError: The provider's own error; or the rate limit allows no call before the deadline; or the
                results are unrelated to the query.
        """
        reported = False
        count = spare_count(query, self.filters(query))
        first, *further = self.pages(query if count == query.count else replace(query, count=count))
        try:
            await self.pacer.wait(deadline)
            deadline = deadline if limit_s is None else deadline.within(limit_s)
            allowed_s, began = deadline.remaining_s(), self.clock.monotonic()
            try:
                found = await self._search(first, deadline, allowed_s)
            except SearchError as error:
                reported = self._failed(error, allowed_s)
                raise
            self._answered(self.clock.monotonic() - began)
            reported = True
        finally:
            if not reported:
                self.breaker.abandoned()
        return await self._with_further(found, first, further, deadline)

    def restore(self) -> None:
        """Set the breaker to its state in the saved statistics."""
        state = self.stats.breaker(self.name)
        self.breaker.restore(state.failures, max(0.0, state.open_until - self.clock.time()))

    async def _with_further(
        self, found: ProviderResults, first: Query, further: Sequence[Query], deadline: Deadline
    ) -> ProviderResults:
        """The results of the first page and of further ones, until a page is far from full or fails."""
        page = found
        for query in further:
            if len(page.hits) < first.count * FULL_PAGE:
                break
            try:
                await self.pacer.wait(deadline)
                page = await self._search(query, deadline, deadline.remaining_s())
            except SearchError:
                break
            found = replace(found, hits=found.hits + page.hits)
        return found

    async def _search(self, query: Query, deadline: Deadline, allowed_s: float) -> ProviderResults:
        found: ProviderResults | None = None
        with span(Step.PROVIDER, provider=self.name) as step:
            with anyio.move_on_after(allowed_s + OVERTIME_S):
                found = await self.provider.search(query, deadline)
            step.outcome = OutcomeKind.OK if found else OutcomeKind.TIMEOUT
        if found is None:
            raise ProviderTimeout(f"{self.pacer.label} did not answer in time.", provider=self.name)
        if self.scraped and looks_unrelated(query.text, found.hits):
            raise ProviderBlocked(
                f"{self.pacer.label} returned results unrelated to the query, "
                "as it does when it blocks automated requests.",
                provider=self.name,
            )
        return found

    def _answered(self, took_s: float) -> None:
        self.breaker.succeeded()
        self.stats.answered(self.name, took_s, self._breaker_state())

    def _failed(self, error: SearchError, allowed_s: float) -> bool:
        """Record a failure; returns whether it was reported to the breaker."""
        # A pool chooses among instances that each have their own pause, so the provider as a whole has none.
        if error.retry_after_s is not None and not isinstance(error, PoolExhausted):
            self.pacer.limits.pause(error.retry_after_s)
        reported = True
        if not error.try_next:
            self.breaker.succeeded()
        elif isinstance(error, ProviderTimeout) and allowed_s < FAIR_CHANCE_S:
            reported = False
        else:
            self.breaker.failed()
        self.stats.failed(self.name, error.kind, self._breaker_state())
        return reported

    def _breaker_state(self) -> BreakerState:
        open_s = self.breaker.open_s
        return BreakerState(
            at=self.clock.time(),
            failures=self.breaker.failures,
            open_until=self.clock.time() + open_s if open_s else 0.0,
            quota=self.pacer.limits.quota,
        )
