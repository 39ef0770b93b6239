"""A circuit breaker: outcomes of calls in, whether to call again out. Three failures in a row open it, thirty seconds
later one call at a time may try again.

Pure but for the clock, which is passed in. It does not know what was called nor why it failed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

FAILURES_TO_OPEN = 3
REST_S = 30.0


class BreakerHealth(StrEnum):
    """How a provider is doing, in one word."""

    CLOSED = "closed"
    """It is asked."""
    OPEN = "open"
    """It failed and rests."""
    HALF_OPEN = "half-open"
    """Its rest is over; one call at a time finds out whether it is back."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Asked as usual."""

    failures: int = 0
    """In a row, so far."""


@dataclass(frozen=True, slots=True)
class Open:
    """Not asked before `until`; from then on a trial is due."""

    until: float
    failures: int


@dataclass(frozen=True, slots=True)
class Trying:
    """A trial is under way, and nobody else is let through."""

    failures: int


@dataclass(slots=True)
class CircuitBreaker:
    """Keeps calls away from a provider that fails."""

    clock: Callable[[], float]
    state: Closed | Open | Trying = field(default_factory=Closed)

    @property
    def health(self) -> BreakerHealth:
        """The state at this moment."""
        match self.state:
            case Closed():
                return BreakerHealth.CLOSED
            case Open() if not self.admits:
                return BreakerHealth.OPEN
            case _:
                return BreakerHealth.HALF_OPEN

    @property
    def admits(self) -> bool:
        """Whether a call would be let through."""
        if isinstance(self.state, Open):
            return self.clock() >= self.state.until
        return isinstance(self.state, Closed)

    @property
    def failures(self) -> int:
        """Failures in a row."""
        return self.state.failures

    @property
    def rest_s(self) -> float:
        """Seconds until a trial is due; zero when one is due or not needed."""
        return max(0.0, self.state.until - self.clock()) if isinstance(self.state, Open) else 0.0

    def enter(self, *, forced: bool = False) -> bool:
        """Whether the call may go ahead; if it is a trial, it is the only one until its outcome is told.

        `forced` lets it through in any state.
        """
        if not (forced or self.admits):
            return False
        if not isinstance(self.state, Closed):
            self.state = Trying(self.failures)
        return True

    def succeeded(self) -> None:
        """The provider answered: all is well again."""
        self.state = Closed()

    def failed(self) -> None:
        """The provider failed. While it rests, stragglers that fail too do not lengthen the rest."""
        match self.state:
            case Closed(failures) if failures + 1 < FAILURES_TO_OPEN:
                self.state = Closed(failures + 1)
            case Closed(failures) | Trying(failures):
                self.state = Open(self.clock() + REST_S, failures + 1)

    def abandoned(self) -> None:
        """The call ended without telling anything about the provider; a trial is due again."""
        if isinstance(self.state, Trying):
            self.state = Open(self.clock(), self.failures)

    def restore(self, failures: int, rest_s: float) -> None:
        """Take up where an earlier start left off."""
        if failures >= FAILURES_TO_OPEN:
            self.state = Open(self.clock() + min(rest_s, REST_S), failures)
        else:
            self.state = Closed(failures)
