"""One SQLite file that several processes share: opened at first use, used in threads.

If the file cannot be used, a database in memory takes its place, with one warning. A lock or a full disk is tried again
after a cool-down; a damaged file or one that is no database is not.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from kindly.concurrency.cooldown import Cooldown
from kindly.frozen import frozen
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

MEMORY = ":memory:"
BUSY_S = 2.0
"""How long to wait for another process that holds the file, before memory is used instead."""
PAUSE_S = 0.01
COOLDOWN_S = 30.0
"""How long memory is used before the file is tried again."""
CLOSE_S = 5.0
PERMISSION, BUSY, LOCKED, READ_ONLY, IO_ERROR = 3, 5, 6, 8, 10
DAMAGED, FULL, CANNOT_OPEN, NOT_A_DATABASE = 11, 13, 14, 26
"""SQLite's primary result codes, here because `sqlite3` is imported only when a file is opened."""
BUSY_CODES = frozenset({BUSY, LOCKED})
LASTING = frozenset({DAMAGED, NOT_A_DATABASE})
"""Codes that no retry changes."""
REASONS = {
    PERMISSION: "it may not be opened",
    BUSY: "another process has held it for too long",
    LOCKED: "another process has held it for too long",
    READ_ONLY: "it cannot be written",
    IO_ERROR: "the disk reported an error",
    DAMAGED: "it is damaged",
    FULL: "the disk is full",
    CANNOT_OPEN: "it cannot be opened",
    NOT_A_DATABASE: "it is damaged",
}


def code_of(error: "sqlite3.Error") -> int:
    """SQLite's primary result code of an error."""
    code: int = getattr(error, "sqlite_errorcode", CANNOT_OPEN)
    return code & 0xFF


def reason_of(code: int) -> str:
    """A result code in words."""
    return REASONS.get(code, f"SQLite reported error {code}")


def transact(
    begin: str, work: "Callable[[sqlite3.Connection], Value]", database: "sqlite3.Connection"
) -> Value:
    """Run `work` in a transaction that `begin` starts; roll back if it fails."""
    with database:
        database.execute(begin)
        return work(database)


def enter_wal_mode(database: "sqlite3.Connection") -> None:
    """Switch to write-ahead logging.

    Raises:
        sqlite3.OperationalError: busy, immediately and whatever the busy timeout: SQLite upgrades a read lock here, and
            never waits where two connections that upgrade could wait for each other. Callers try again.
    """
    database.execute("PRAGMA journal_mode = WAL")


@frozen
class Schema:
    """The tables of a file, and the size of its pages."""

    sql: str
    page_bytes: int = 4096
    """Of a file that is new. Larger pages take less time for large values, and more for small ones."""


class SqliteFile:
    """A SQLite file, opened at first use, with a database in memory as the fallback."""

    def __init__(
        self,
        path: str,
        schema: Schema,
        what: str,
        warnings: WarnOnce | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._path = path
        self._schema = schema
        self._what = what
        self._warnings = warnings or WarnOnce()
        self._sleep = sleep
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._fallback: sqlite3.Connection | None = None
        self._cooldown = Cooldown(clock)

    async def run(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        """Run `work` in a thread, on the file or else on the database in memory."""
        return await anyio.to_thread.run_sync(self._locked, work)

    async def aclose(self) -> None:
        """Close the file when the current work is done."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await anyio.to_thread.run_sync(self._close_when_free)

    def _locked(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        import sqlite3

        with self._lock:
            if self._cooldown.is_active:
                return work(self._in_memory())
            try:
                value = work(self._opened())
            except sqlite3.Error as error:
                if self._path == MEMORY:
                    raise
                self._fall_back(error)
                return work(self._in_memory())
            self._use_again()
            return value

    def _fall_back(self, error: "sqlite3.Error") -> None:
        """Use memory instead: until the cool-down ends, or for good if no retry can help."""
        code = code_of(error)
        lasting = code in LASTING
        self._close()
        self._cooldown.start(math.inf if lasting else COOLDOWN_S)
        until = "the next start" if lasting else "the file can be used again"
        self._warnings.warn(
            reason_of(code),
            f"The {self._what} file cannot be used: {reason_of(code)}. "
            f"The {self._what} is kept in memory until {until}.",
        )

    def _use_again(self) -> None:
        if self._fallback is not None:
            self._fallback.close()
            self._fallback = None
            logger.info("The %s file is used again.", self._what)

    def _opened(self) -> "sqlite3.Connection":
        if self._database is None:
            self._database = self._connect_when_free()
        return self._database

    def _connect_when_free(self) -> "sqlite3.Connection":
        """Connect; retry while other processes create the same file."""
        import sqlite3

        give_up = time.monotonic() + BUSY_S
        while True:
            try:
                return _connect(self._path, self._schema)
            except sqlite3.OperationalError as error:
                if code_of(error) not in BUSY_CODES or time.monotonic() >= give_up:
                    raise
            self._sleep(PAUSE_S)

    def _in_memory(self) -> "sqlite3.Connection":
        if self._fallback is None:
            self._fallback = _connect(MEMORY, self._schema)
        return self._fallback

    def _close_when_free(self) -> None:
        with self._lock:
            self._close()
            if self._fallback is not None:
                self._fallback.close()
                self._fallback = None

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


def _connect(path: str, schema: Schema) -> "sqlite3.Connection":
    import sqlite3

    if path != MEMORY:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch(mode=0o600)
        except OSError as error:
            raise sqlite3.OperationalError("the file cannot be created") from error
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        database.execute(f"PRAGMA page_size = {schema.page_bytes:d}")
        enter_wal_mode(database)
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(schema.sql)
    except sqlite3.Error:
        database.close()
        raise
    return database
