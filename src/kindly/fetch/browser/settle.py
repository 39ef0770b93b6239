"""When a page's content is complete: observations of its text and its requests in, a decision out. Pure.

Waits for content, not for network silence: a page that polls or streams without end is complete once its text does not
change any more.
"""

from kindly.frozen import frozen

ENOUGH_CHARS = 200
"""With less text than this, a page with running requests is not complete: it may show a loading indicator."""
STABLE_S = 0.3
QUIET_STABLE_S = 0.1
"""How long the text must be unchanged when no request is running."""
EMPTY_STABLE_S = 0.6
"""How long a page with hardly any text must be unchanged and without requests."""


@frozen
class Observation:
    """The state of a page at one moment."""

    at_s: float
    chars: int
    """Visible characters."""
    pending: int
    """Running requests."""
    complete: bool
    """Whether the document is loaded."""


@frozen
class Settling:
    """When the text and the requests last changed."""

    chars: int = -1
    since_s: float = 0.0
    quiet_since_s: float | None = None

    def observe(self, observed: Observation) -> "Settling":
        """The state after one more observation."""
        since_s = self.since_s if observed.chars == self.chars else observed.at_s
        busy = observed.pending > 0 or not observed.complete
        quiet = self.quiet_since_s if self.quiet_since_s is not None else observed.at_s
        return Settling(observed.chars, since_s, None if busy else quiet)

    def done(self, now_s: float) -> bool:
        """Whether the content is complete."""
        still_s = now_s - self.since_s
        quiet_s = 0.0 if self.quiet_since_s is None else now_s - self.quiet_since_s
        if self.chars < ENOUGH_CHARS:
            return min(still_s, quiet_s) >= EMPTY_STABLE_S
        return still_s >= STABLE_S or min(still_s, quiet_s) >= QUIET_STABLE_S
