"""A circuit breaker: three failures in a row open it; thirty seconds later one trial call at a time is allowed.

Pure but for the clock, which is passed in. It does not know what is called, nor why a call failed.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from kindly.clock import Monotonic
from kindly.frozen import frozen

FAILURES_TO_OPEN = 3
OPEN_S = 30.0


class BreakerHealth(StrEnum):
    """The state of a breaker, in one word."""

    CLOSED = "closed"
    """Calls are allowed."""
    OPEN = "open"
    """Calls are not allowed."""
    HALF_OPEN = "half-open"
    """One trial call at a time finds out whether the provider is back."""


@frozen
class Closed:
    """Calls are allowed."""

    failures: int = 0
    """In a row, so far."""


@frozen
class Open:
    """No call before `until`; then a trial call is due."""

    until: float
    failures: int


@frozen
class Trying:
    """A trial call is running; no other call is allowed."""

    failures: int


@dataclass(slots=True)
class CircuitBreaker:
    """Keeps calls away from a provider that fails."""

    monotonic: Monotonic
    state: Closed | Open | Trying = field(default_factory=Closed)

    @property
    def health(self) -> BreakerHealth:
        match self.state:
            case Closed():
                return BreakerHealth.CLOSED
            case Open() if not self.allows_call:
                return BreakerHealth.OPEN
            case _:
                return BreakerHealth.HALF_OPEN

    @property
    def allows_call(self) -> bool:
        """Whether `enter` would succeed."""
        if isinstance(self.state, Open):
            return self.monotonic() >= self.state.until
        return isinstance(self.state, Closed)

    @property
    def failures(self) -> int:
        """Failures in a row."""
        return self.state.failures

    @property
    def open_s(self) -> float:
        """Seconds until a trial call is due; zero when one is due or not needed."""
        if isinstance(self.state, Open):
            return max(0.0, self.state.until - self.monotonic())
        return 0.0

    def enter(self, *, force: bool = False) -> bool:
        """Whether the call may proceed. A trial call is the only one until its outcome is reported.

        `force` lets it through in any state.
        """
        if not (force or self.allows_call):
            return False
        if not isinstance(self.state, Closed):
            self.state = Trying(self.failures)
        return True

    def succeeded(self) -> None:
        """The provider answered: close the breaker."""
        self.state = Closed()

    def failed(self) -> None:
        """The provider failed. Late failures of earlier calls do not extend the time that the breaker is open."""
        match self.state:
            case Closed(failures) if failures + 1 < FAILURES_TO_OPEN:
                self.state = Closed(failures + 1)
            case Closed(failures) | Trying(failures):
                self.state = Open(self.monotonic() + OPEN_S, failures + 1)

    def abandoned(self) -> None:
        """The call ended without saying anything about the provider; a trial call is due again."""
        if isinstance(self.state, Trying):
            self.state = Open(self.monotonic(), self.failures)

    def restore(self, failures: int, open_s: float) -> None:
        """Continue with the state of an earlier start."""
        if failures >= FAILURES_TO_OPEN:
            self.state = Open(self.monotonic() + min(open_s, OPEN_S), failures)
        else:
            self.state = Closed(failures)
