"""One warning for one trouble, however many parts of the program meet it and however often.

A full disk is met by the page cache, the library and the search state alike; whoever reads the log is told once.
"""

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

QUIET_S = 600.0
"""How long the same reason is not told again."""
MAX_REASONS = 100


class WarnOnce:
    """Says what is wrong."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._said_at: dict[str, float] = {}

    def warn(self, reason: str, sentence: str) -> None:
        """Log a warning, unless one for the same reason was logged lately; any thread may."""
        with self._lock:
            now = self._clock()
            said_at = self._said_at.get(reason)
            if said_at is not None and now - said_at < QUIET_S:
                return
            if len(self._said_at) >= MAX_REASONS:
                self._said_at.clear()
            self._said_at[reason] = now
        logger.warning("%s", sentence)
