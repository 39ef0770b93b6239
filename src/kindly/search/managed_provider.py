"""One provider with all that is around a call to it: its breaker, its queue, its clock and its books.

A lane knows nothing of other lanes; whether to use it is for the router to decide.
"""

from dataclasses import dataclass

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import ProviderBlocked, ProviderTimeout, SearchError
from kindly.models import ProviderResults, Query
from kindly.search.circuit_breaker import CircuitBreaker
from kindly.search.provider import SearchProvider
from kindly.search.provider_pacing import Pacer
from kindly.search.provider_stats import BreakerState, ProviderStats
from kindly.search.ranking.relevance import looks_unrelated
from kindly.telemetry.trace import span

OVERTIME_S = 0.1
"""What a provider that does not keep its deadline gets on top, before it is cut off."""
FAIR_CHANCE_S = 1.0
"""A provider that had less time than this is not blamed for being late."""


@dataclass(frozen=True, slots=True)
class ManagedProvider:
    """A provider, ready to be asked."""

    provider: SearchProvider
    breaker: CircuitBreaker
    pacer: Pacer
    ledger: ProviderStats
    scraped: bool
    """Whether results are read off pages meant for people: such providers may answer a robot with nonsense."""
    clock: Clock

    @property
    def name(self) -> str:
        """The provider's."""
        return self.provider.name

    async def ask(self, query: Query, deadline: Deadline) -> ProviderResults:
        """What the provider found, as soon as it is this call's turn. The breaker must have been entered.

        Raises:
            SearchError: The provider's own error; one that says the turn would not come in time; or one that says
                that the results are not for this query.
        """
        told = False
        try:
            await self.pacer.turn(deadline)
            allowed_s, began = deadline.remaining_s(), self.clock.monotonic()
            try:
                found = await self._search(query, deadline, allowed_s)
            except SearchError as error:
                told = self._failed(error, allowed_s)
                raise
            self._answered(self.clock.monotonic() - began)
            told = True
            return found
        finally:
            if not told:
                self.breaker.abandoned()

    def restore(self) -> None:
        """Take up the breaker's state from the books."""
        standing = self.ledger.standing(self.name)
        self.breaker.restore(standing.failures, max(0.0, standing.open_until - self.clock.time()))

    async def _search(self, query: Query, deadline: Deadline, allowed_s: float) -> ProviderResults:
        found: ProviderResults | None = None
        with span("provider", provider=self.name) as step:
            with anyio.move_on_after(allowed_s + OVERTIME_S):
                found = await self.provider.search(query, deadline)
            step.outcome = "ok" if found else "timeout"
        if found is None:
            raise ProviderTimeout(
                f"{self.pacer.label} did not answer in time: try again in a moment.",
                provider=self.name,
            )
        if self.scraped and looks_unrelated(query.text, found.hits):
            raise ProviderBlocked(
                f"{self.pacer.label} answered with results that have nothing to do with the query, "
                "as it does to robots that it blocks: try again later, or set up another provider.",
                provider=self.name,
            )
        return found

    def _answered(self, took_s: float) -> None:
        self.breaker.succeeded()
        self.ledger.answered(self.name, took_s, self._standing())

    def _failed(self, error: SearchError, allowed_s: float) -> bool:
        """Write a failure down; whether the breaker was told of it."""
        if error.retry_after_s is not None:
            self.pacer.gauge.pause(error.retry_after_s)
        told = True
        if not error.try_next:
            self.breaker.succeeded()
        elif isinstance(error, ProviderTimeout) and allowed_s < FAIR_CHANCE_S:
            told = False
        else:
            self.breaker.failed()
        self.ledger.failed(self.name, error.kind, self._standing())
        return told

    def _standing(self) -> BreakerState:
        rest_s = self.breaker.rest_s
        return BreakerState(
            at=self.clock.time(),
            failures=self.breaker.failures,
            open_until=self.clock.time() + rest_s if rest_s else 0.0,
            quota=self.pacer.gauge.quota,
        )
