"""A semaphore for tool calls: wait 0.5 s for a slot, then raise `Busy` with `retry_after_s`. There is no queue."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from kindly.errors import Busy

MAX_CALLS = 128
WAIT_S = 0.5
RETRY_AFTER_S = 2.0


class CallLimit:
    """Limits the number of concurrent calls."""

    def __init__(self, max_calls: int = MAX_CALLS, wait_s: float = WAIT_S) -> None:
        self._max_calls = max_calls
        self._wait_s = wait_s
        self._slots = anyio.Semaphore(max_calls, max_value=max_calls)

    @property
    def running(self) -> int:
        """The number of calls that hold a slot."""
        return self._max_calls - self._slots.value

    @property
    def is_full(self) -> bool:
        """Whether a new call would have to wait."""
        return self._slots.value == 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot during the block.

        Raises:
            Busy: No slot became free in time.
        """
        if not await self._acquire():
            raise Busy(
                f"The server is busy: it runs {self._max_calls} calls, its limit.",
                retry_after_s=RETRY_AFTER_S,
            )
        try:
            yield
        finally:
            self._slots.release()

    async def _acquire(self) -> bool:
        try:
            self._slots.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.move_on_after(self._wait_s):
                await self._slots.acquire()
                return True
            return False
        return True
