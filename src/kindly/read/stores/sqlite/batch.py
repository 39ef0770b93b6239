"""Writes that wait for each other share one transaction: most of a small one's time is its commit.

Each is there when its caller goes on, as if it had been written alone. Where one of several is refused, each is written
alone, so that only its own caller is told.
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

TOGETHER = 16
"""As many as share a transaction: other processes wait for it."""


class Batches:
    """Writes of one process to one file."""

    def __init__(self, run: "Callable[[Work], Awaitable[None]]") -> None:
        self._run = run
        """Does work with a connection, outside of any transaction."""
        self._turn = anyio.Lock()
        self._waiting: dict[object, Prepare] = {}

    async def write(self, prepare: "Prepare") -> None:
        """Do what `prepare` gives, all of it or nothing. It may be prepared, and done, more than once."""
        mine = object()
        self._waiting[mine] = prepare
        try:
            async with self._turn:
                if mine in self._waiting:
                    await self._write_with(mine)
        finally:
            self._waiting.pop(mine, None)

    async def _write_with(self, mine: object) -> None:
        """Write what one waits for, and what others wait for meanwhile."""
        batch = dict(islice(self._waiting.items(), TOGETHER))
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
    """One of several writes cannot be."""


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
