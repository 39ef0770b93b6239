"""When is a page done? Observations of its text and its requests in, yes or no out.

Waits for content rather than for silence: a page that polls or streams for ever is done once its text stands still.
"""

from dataclasses import dataclass

ENOUGH_CHARS = 200
"""With less text than this, a page whose requests still run is not done: it may be showing a spinner."""
STABLE_S = 0.3
QUIET_STABLE_S = 0.1
"""How long the text must stand still when nothing is under way any more."""
EMPTY_STABLE_S = 0.6
"""How long a page with next to no text may go on doing nothing."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A page at one moment."""

    at_s: float
    chars: int
    """Characters that it shows."""
    pending: int
    """Requests under way."""
    complete: bool
    """Whether the browser says that the document is loaded."""


@dataclass(frozen=True, slots=True)
class Settling:
    """What is known so far: when text and requests last changed."""

    chars: int = -1
    since_s: float = 0.0
    quiet_since_s: float | None = None

    def seeing(self, seen: Observation) -> "Settling":
        """What is known after one more look."""
        since_s = self.since_s if seen.chars == self.chars else seen.at_s
        busy = seen.pending > 0 or not seen.complete
        quiet = self.quiet_since_s if self.quiet_since_s is not None else seen.at_s
        return Settling(seen.chars, since_s, None if busy else quiet)

    def done(self, now_s: float) -> bool:
        """Whether there is nothing left to wait for."""
        still_s = now_s - self.since_s
        quiet_s = 0.0 if self.quiet_since_s is None else now_s - self.quiet_since_s
        if self.chars < ENOUGH_CHARS:
            return min(still_s, quiet_s) >= EMPTY_STABLE_S
        return still_s >= STABLE_S or min(still_s, quiet_s) >= QUIET_STABLE_S
