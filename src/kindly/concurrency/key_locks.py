"""A lock per key, which exists only while it is used. For tasks of one process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio


@dataclass(slots=True)
class _CountedLock:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0


class KeyLocks:
    """Hands out one lock per key; a lock without users is dropped."""

    def __init__(self) -> None:
        self._locks: dict[str, _CountedLock] = {}

    @asynccontextmanager
    async def __call__(self, key: str) -> AsyncIterator[None]:
        """Hold the lock of `key` during the block."""
        counted = self._locks.setdefault(key, _CountedLock())
        counted.users += 1
        try:
            async with counted.lock:
                yield
        finally:
            counted.users -= 1
            if not counted.users:
                del self._locks[key]
