"""One clock for the whole program: wall time, monotonic time, sleep and randomness, passed in for tests."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from random import random
from time import time  # noqa: TID251 - the only place that reads the wall clock

import anyio

from kindly.frozen import frozen

Monotonic = Callable[[], float]
"""Seconds that never go backwards: for code that needs nothing else of a clock."""


@frozen
class Clock:
    """Time and randomness. The monotonic default is the event loop's clock, so it needs a running loop."""

    time: Callable[[], float] = time
    """Wall time in seconds since the epoch: comparable between processes and restarts."""
    monotonic: Monotonic = anyio.current_time
    """Seconds that never go backwards, for durations and deadlines."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    random: Callable[[], float] = random
    """From 0 (included) to 1 (excluded)."""

    def now(self) -> datetime:
        """Wall time as a UTC date."""
        return datetime.fromtimestamp(self.time(), UTC)


SYSTEM_CLOCK = Clock()
