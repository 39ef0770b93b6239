"""Group commit: writes that wait for each other share one transaction, because the commit costs most of the time.

Each write is durable when its caller continues. If one of them is refused, each is written alone, so that only its own
caller gets the error.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import anyio

from kindly.errors import KindlyError
from kindly.storage.sqlite import transact

if TYPE_CHECKING:
    import sqlite3

    Work = Callable[[sqlite3.Connection], None]
    Prepare = Callable[[sqlite3.Connection], Work]

BATCH = 16
"""Writes per transaction; other processes wait for it."""


class WriteBatches:
    """Collects the writes of one process to one file."""

    def __init__(self, run: "Callable[[Work], Awaitable[None]]") -> None:
        self._run = run
        """Runs work with a connection, outside of any transaction."""
        self._lock = anyio.Lock()
        self._waiting: dict[object, Prepare] = {}

    async def write(self, prepare: "Prepare") -> None:
        """Run the work that `prepare` returns, in a transaction. Both may run more than once."""
        mine = object()
        self._waiting[mine] = prepare
        try:
            async with self._lock:
                if mine in self._waiting:
                    await self._write_with(mine)
        finally:
            self._waiting.pop(mine, None)

    async def _write_with(self, mine: object) -> None:
        """Write this one together with those that wait."""
        batch = dict(islice(self._waiting.items(), BATCH))
        if len(batch) > 1:
            try:
                await self._run(partial(_write_all, list(batch.values())))
            except _Refused:
                pass
            else:
                for written in batch:
                    self._waiting.pop(written, None)
                return
        await self._run(partial(_write, self._waiting[mine]))


class _Refused(Exception):
    """One of several writes is refused."""


def _write(prepare: "Prepare", database: "sqlite3.Connection") -> None:
    transact("BEGIN IMMEDIATE", prepare(database), database)


def _write_all(prepares: "Sequence[Prepare]", database: "sqlite3.Connection") -> None:
    works = [prepare(database) for prepare in prepares]

    def write(database: "sqlite3.Connection") -> None:
        for work in works:
            work(database)

    try:
        transact("BEGIN IMMEDIATE", write, database)
    except (KindlyError, ValueError) as error:
        raise _Refused from error
