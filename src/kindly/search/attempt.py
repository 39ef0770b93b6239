"""The progress of one search: failures so far, providers skipped, time left; and how errors and answers report that.

Pure. The router decides what to do; this module only records and describes it.
"""

from dataclasses import dataclass, field

from kindly.budget import Deadline
from kindly.errors import (
    CertificateRefused,
    NoProvider,
    PoolExhausted,
    ProviderAnswerInvalid,
    ProviderBlocked,
    ProviderRateLimited,
    ProviderTimeout,
    SearchError,
)
from kindly.frozen import frozen
from kindly.models import Query

MIN_SHARE = 0.4
SHARES = 1.2
"""A provider may use `SHARES` / (number of providers not yet called) of the time left, at least `MIN_SHARE`."""

CAUSES: tuple[tuple[type[SearchError], str], ...] = (
    (ProviderTimeout, "timeout"),
    (ProviderRateLimited, "rate limit"),
    (ProviderBlocked, "blocked"),
    (ProviderAnswerInvalid, "unusable answer"),
    (PoolExhausted, "no instance available"),
    (CertificateRefused, "certificate refused"),
)


@frozen
class SetupHints:
    """Settings that make a provider available."""

    keys: tuple[str, ...]
    keyless: tuple[str, ...] = ()


@dataclass(slots=True)
class SearchAttempt:
    """What has happened so far in one search."""

    query: Query
    deadline: Deadline
    queue_until: Deadline | None = None
    """Until when the last provider's rate limit may be waited for, if that is longer than the search may take."""
    failures: list[SearchError] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    """Providers whose circuit breaker is open, with their failures in a row."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Providers that failed, in the order in which they were called."""
        return tuple(failure.provider for failure in self.failures)

    def share(self, providers_left: int) -> Deadline:
        """The deadline of the next provider, given how many are not yet called, itself included."""
        if providers_left <= 1:
            return self.deadline
        share = max(MIN_SHARE, SHARES / providers_left)
        return self.deadline.within(share * self.deadline.remaining_s())

    def why(self, otherwise: str) -> str:
        """Why the answer is not from the first provider; `otherwise` if it is."""
        failed = [f"{failure.provider} failed ({cause_of(failure)})" for failure in self.failures]
        return "; ".join((*failed, *self._skipped_words())) or otherwise

    def error(self) -> SearchError:
        """The first provider's error, with a note on the other providers that failed or were skipped.

        It lists the instances that any of them called.
        """
        primary, *others = self.failures
        notes = []
        if others:
            causes = ", ".join(f"{other.provider} ({cause_of(other)})" for other in others)
            notes.append(f"The fallback failed too: {causes}.")
        if self.skipped:
            notes.append(f"Not called: {', '.join(self._skipped_words())}.")
        if not notes:
            return primary
        attempted = tuple(instance for failure in self.failures for instance in failure.attempted)
        return primary.replace(detail=" ".join((primary.detail, *notes)), attempted=attempted)

    def _skipped_words(self) -> list[str]:
        return [f"{name} is paused after {count} failures" for name, count in self.skipped.items()]


def cause_of(error: SearchError) -> str:
    """An error's cause in a few words."""
    if error.status is not None:
        return f"HTTP {error.status}"
    causes = (words for kind, words in CAUSES if isinstance(error, kind))
    return next(causes, str(error.kind))


def none_configured(hints: SetupHints) -> NoProvider:
    """The error that names the settings to set."""
    keys, keyless = " or ".join(hints.keys), " or ".join(hints.keyless)
    choices = f"{keys}; or, without a key, {keyless}" if keys and keyless else keys or keyless
    return NoProvider(f"No search provider is configured{choices and f': set {choices}'}.")
