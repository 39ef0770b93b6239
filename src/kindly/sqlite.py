"""One SQLite file that several processes share: opened when first needed, used in threads, never in the way.

A file that cannot be used (unwritable, corrupt, foreign) is left alone, with one warning, for a database in memory.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

MEMORY = ":memory:"
BUSY_S = 5.0
"""How long another process may hold the file before we give up on it."""
CLOSE_S = 5.0


class SqliteFile:
    """A database to come."""

    def __init__(self, path: str, schema: str, what: str) -> None:
        self._path = path
        self._schema = schema
        self._what = what
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    async def run(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        """Do `work` in a thread; where the file fails, on a database in memory."""
        return await anyio.to_thread.run_sync(self._locked, work)

    async def aclose(self) -> None:
        """Close the file once nobody works on it."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await anyio.to_thread.run_sync(self._close_when_free)

    def _locked(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        import sqlite3

        with self._lock:
            try:
                return work(self._opened())
            except sqlite3.Error as error:
                if self._path == MEMORY:
                    raise
                logger.warning(
                    "The file of the %s cannot be used (%s); it is kept in memory until the next start.",
                    self._what,
                    type(error).__name__,
                )
                self._close()
                self._path = MEMORY
                return work(self._opened())

    def _opened(self) -> "sqlite3.Connection":
        if self._database is None:
            self._database = _connect(self._path, self._schema)
        return self._database

    def _close_when_free(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _connect(path: str, schema: str) -> "sqlite3.Connection":
    import sqlite3

    if path != MEMORY:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch(mode=0o600)
        except OSError as error:
            raise sqlite3.OperationalError("the file cannot be made") from error
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(schema)
    except sqlite3.Error:
        database.close()
        raise
    return database
