"""A circuit breaker around the store: after a failure, pages are read without it until a cool-down ends."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

import anyio

from kindly.clock import Monotonic
from kindly.concurrency.cooldown import Cooldown
from kindly.errors import StoreUnavailable
from kindly.read.store import Store
from kindly.storage.sqlite import BUSY, reason_of
from kindly.telemetry.warn_once import WarnOnce

Value = TypeVar("Value")

TIMEOUT_S = 15.0
"""How long an answer waits for the store."""
PROBE_TIMEOUT_S = 1.0
"""How long it waits for a store that failed and was not written since."""
COOLDOWN_S = 15.0
"""How long a store that failed is not used."""


class StoreBreaker:
    """Runs work on a store. A failure is logged once; the page is then not stored, but still answered."""

    def __init__(self, store: Store, warnings: WarnOnce, monotonic: Monotonic) -> None:
        self._store = store
        self._warnings = warnings
        self._cooldown = Cooldown(monotonic)
        self._is_healthy = True

    async def attempt(self, work: "Callable[[], Awaitable[Value | None]]") -> "Value | None":
        """The result of `work`; None if the store fails, or failed a moment ago."""
        if self._cooldown.is_active:
            return None
        try:
            with anyio.fail_after(TIMEOUT_S if self._is_healthy else PROBE_TIMEOUT_S):
                return await work()
        except TimeoutError:
            self._trip(StoreUnavailable("The library does not answer.", reason=reason_of(BUSY)))
        except StoreUnavailable as error:
            self._trip(error)
        return None

    def was_written(self) -> None:
        """Note that a write succeeded: the store gets the full timeout again."""
        self._is_healthy = True

    @asynccontextmanager
    async def lock(self, url: str) -> AsyncIterator[None]:
        """Hold the page's lock. If the store cannot lock, continue without."""
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._store.lock(url))
            except StoreUnavailable as error:
                self._trip(error)
            yield

    def _trip(self, error: StoreUnavailable) -> None:
        self._cooldown.start(COOLDOWN_S)
        self._is_healthy = False
        self._warnings.warn(
            error.reason, f"The library cannot be used; pages are read without it. {error.detail}"
        )
