"""One search as it goes along: what it has left, who failed, who was passed over; and how that is told.

Pure. It decides nothing; the router does.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

from kindly.budget import Deadline
from kindly.errors import NoProvider, SearchError
from kindly.models import Query

LEAST_SHARE = 0.4
SHARES = 1.2
"""Of the time left, a provider may use this divided by those still to be asked, itself included."""


@dataclass(frozen=True, slots=True)
class SetupHints:
    """What a user can set to have a provider."""

    keys: tuple[str, ...]
    keyless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAttempt:
    """What one search has seen so far."""

    query: Query
    deadline: Deadline
    failures: list[SearchError] = field(default_factory=list)
    resting: dict[str, int] = field(default_factory=dict)
    """Those that were passed over, with their failures in a row."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Who failed, in the order in which they were asked."""
        return tuple(failure.provider for failure in self.failures)

    def share(self, left: int) -> Deadline:
        """By when one of `left` providers that are still to be asked must have answered."""
        if left <= 1:
            return self.deadline
        return self.deadline.within(max(LEAST_SHARE, SHARES / left) * self.deadline.remaining_s())

    def why(self, otherwise: str) -> str:
        """What went before, or `otherwise` if nothing did."""
        return "; ".join((*self._failed_words(), *self._resting_words())) or otherwise

    def unanswered(self) -> SearchError:
        """The primary's error, saying in a few words that the others failed too, and how."""
        primary, *others = self.failures
        notes = []
        if others:
            outcomes = ", ".join(f"{other.provider} ({other.kind})" for other in others)
            notes.append(f"The fallback failed too: {outcomes}.")
        if self.resting:
            notes.append(f"Not asked: {', '.join(self._resting_words())}.")
        return _with(primary, notes) if notes else primary

    def _failed_words(self) -> list[str]:
        return [f"{failure.provider} failed ({failure.kind})" for failure in self.failures]

    def _resting_words(self) -> list[str]:
        return [f"{name} is resting after {count} failures" for name, count in self.resting.items()]


def none_configured(choices: SetupHints) -> NoProvider:
    """The error that says what to set."""
    keyless = f"; or, without a key, {' or '.join(choices.keyless)}" if choices.keyless else ""
    return NoProvider(
        f"No search provider is configured: set {' or '.join(choices.keys)}{keyless}. "
        "Pages can be read without any: get_content (kindly fetch) works."
    )


def _with(error: SearchError, notes: Sequence[str]) -> SearchError:
    noted = copy(error)
    noted.detail = " ".join((error.detail, *notes))
    noted.args = (noted.detail,)
    return noted
