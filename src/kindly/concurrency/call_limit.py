"""How many calls run at once. Who finds no room waits a moment, and is then told to come back; no queue grows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from kindly.errors import Busy

CALLS = 128
PATIENCE_S = 0.5
COME_BACK_S = 2.0


class CallLimit:
    """A bounded number of calls."""

    def __init__(self, calls: int = CALLS, patience_s: float = PATIENCE_S) -> None:
        self._calls = calls
        self._patience_s = patience_s
        self._free = anyio.Semaphore(calls, max_value=calls)

    @property
    def is_full(self) -> bool:
        """Whether a call that came now would have to wait."""
        return self._free.value == 0

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """One place, given back at the end.

        Raises:
            Busy: none became free in time.
        """
        if not await self._has_place():
            raise Busy(
                f"The server is busy with {self._calls} calls, as many as it takes at once.",
                retry_after_s=COME_BACK_S,
            )
        try:
            yield
        finally:
            self._free.release()

    async def _has_place(self) -> bool:
        try:
            self._free.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.move_on_after(self._patience_s):
                await self._free.acquire()
                return True
            return False
        return True
