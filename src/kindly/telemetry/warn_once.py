"""Rate-limited warnings: one per reason in ten minutes.

A full disk affects the page cache, the library and the search state alike; the log should say so once.
"""

import logging
import threading
import time

from kindly.clock import Monotonic

logger = logging.getLogger(__name__)

QUIET_S = 600.0
"""How long a reason is not repeated."""
MAX_REASONS = 100


class WarnOnce:
    """Logs warnings; thread-safe."""

    def __init__(self, monotonic: Monotonic = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._warned_at: dict[str, float] = {}

    def warn(self, reason: str, sentence: str) -> None:
        """Log a warning, unless one for the same reason was logged lately."""
        with self._lock:
            now = self._monotonic()
            warned_at = self._warned_at.get(reason)
            if warned_at is not None and now - warned_at < QUIET_S:
                return
            if len(self._warned_at) >= MAX_REASONS:
                self._warned_at.clear()
            self._warned_at[reason] = now
        logger.warning("%s", sentence)
