"""The library's DuckDB file, which one process at a time can open: held only while there is work, and waited for.

A damaged file is moved aside and a new one begun; one that is newer, or another program's, is left alone.
"""

import logging
import random
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from kindly.errors import StoreRefused, StoreUnavailable
from kindly.read.row_format import SCHEMA

if TYPE_CHECKING:
    import duckdb

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

WAIT_S = 60.0
"""How long another process may hold the file."""
HELD_S = 0.5
"""How long we hold it while there is more work and others may wait."""
PAUSE_S = (0.01, 0.08)
REST_S = 0.1
"""How long we stay away after that, so that others who wait find the file free."""
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
LOCKED = (
    "Could not set lock",
    "Conflicting lock",
    "being used by another process",
    "is already attached by",
)
DAMAGED = (
    "not a valid DuckDB database file",
    "Corrupt database file",
    "Could not read enough bytes",
    "replaying WAL",
)
NEWER = "version number"
HOLDER = re.compile(r"PID (\d+)")
OTHERS = b"SQLite format 3"


class _Locked(Exception):
    """Somebody else has the file, or changes the same rows."""

    def __init__(self, holder: str = "") -> None:
        super().__init__(holder)
        self.holder = holder


class _Damaged(Exception):
    """The file cannot be read any more."""


class DuckLibrary:
    """A file to come: opened at first use, with the tables that `migrations` make of an empty one."""

    def __init__(
        self,
        path: Path,
        migrations: Sequence[str],
        now: Callable[[], datetime],
        patience_s: float = WAIT_S,
    ) -> None:
        self.path = path
        self._migrations = migrations
        self._now = now
        self._patience_s = patience_s
        self._turn = anyio.Lock()
        self._waiting = 0
        self._database: duckdb.DuckDBPyConnection | None = None
        self._opened_at = 0.0
        self._rest_until = 0.0
        self._seen: int | None = None

    async def run(self, work: "Callable[[duckdb.DuckDBPyConnection], Value]") -> Value:
        """Do `work` in a thread, all of it or nothing; it may run more than once."""
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._patiently(work)
        finally:
            try:
                await self._hand_on()
            finally:
                self._turn.release()

    async def _hand_on(self) -> None:
        """Close the file where nobody here waits for it, or others may have waited long enough."""
        if not self._waiting or time.monotonic() - self._opened_at > HELD_S:
            await self._close()
            self._rest_until = time.monotonic() + (REST_S if self._waiting else 0)

    async def aclose(self) -> None:
        """Wait for what is under way; the file is closed whenever nobody works."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                await self._close()

    async def _patiently(self, work: "Callable[[duckdb.DuckDBPyConnection], Value]") -> Value:
        give_up = anyio.current_time() + self._patience_s
        repaired = False
        await anyio.sleep(max(0.0, self._rest_until - time.monotonic()))
        while True:
            try:
                return await anyio.to_thread.run_sync(self._attempt, work)
            except _Locked as locked:
                if anyio.current_time() > give_up:
                    raise self._unavailable(
                        f"{locked.holder or 'another process'} has held it for too long"
                    ) from locked
                await anyio.sleep(random.uniform(*PAUSE_S))  # noqa: S311 - so that no two fall into step
            except _Damaged as damaged:
                await self._close()
                if repaired:
                    raise self._unavailable("it is damaged") from damaged
                await anyio.to_thread.run_sync(self._set_aside)
                repaired = True

    def _attempt(self, work: "Callable[[duckdb.DuckDBPyConnection], Value]") -> Value:
        import duckdb

        try:
            if self._database is None:
                self._database = self._open()
            return _transact(self._database, work)
        except duckdb.TransactionException as error:
            raise _Locked from error
        except duckdb.SerializationException as error:
            raise _Damaged from error
        except duckdb.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: "duckdb.Error") -> Exception:
        text = str(error)
        if any(sign in text for sign in LOCKED):
            holder = HOLDER.search(text)
            return _Locked(f"process {holder[1]}" if holder else "")
        if any(sign in text for sign in DAMAGED):
            return _Damaged()
        if NEWER in text:
            return StoreRefused(
                f"{self.path} was written by another version of DuckDB. Install that version, "
                "or set DATA_DIR to another folder."
            )
        if self._database is not None:  # after some errors it takes no more work
            self._database.close()
            self._database = None
        return self._unavailable(f"DuckDB gave {type(error).__name__}")

    def _open(self) -> "duckdb.DuckDBPyConnection":
        import duckdb

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._seen = self.path.stat().st_ino if self.path.exists() else None
            if self._seen is not None and _head(self.path) == OTHERS:
                raise self._foreign()
        except OSError as error:
            raise StoreUnavailable(
                f"The library cannot be kept at {self.path}: {error.strerror}. "
                "Set DATA_DIR to a folder that can be written."
            ) from error
        database = duckdb.connect(str(self.path), config=CONFIG)
        try:
            self._migrate(database)
        except BaseException:
            database.close()
            raise
        self._opened_at = time.monotonic()
        return database

    def _migrate(self, database: "duckdb.DuckDBPyConnection") -> None:
        import duckdb

        tables = {name for (name,) in database.execute("SHOW TABLES").fetchall()}
        version = 0
        if tables:
            row = None
            if "meta" in tables:
                row = database.execute("SELECT value FROM meta WHERE key = ?", [SCHEMA]).fetchone()
            if row is None:
                raise self._foreign()
            version = int(row[0])
        newest = len(self._migrations)
        if version > newest:
            raise StoreRefused(
                f"{self.path} was written by a newer version of Kindly (library version {version}, this one knows "
                f"{newest}). Upgrade Kindly, or set DATA_DIR to another folder."
            )
        if version < newest:
            try:
                _transact(database, lambda one: _make(one, self._migrations[version:], newest))
            except duckdb.CatalogException as error:  # another store of this process was first
                raise _Locked from error

    def _foreign(self) -> StoreRefused:
        return StoreRefused(
            f"{self.path} is another program's database. Move it away, or set DATA_DIR to another folder."
        )

    def _unavailable(self, reason: str) -> StoreUnavailable:
        return StoreUnavailable(f"The library {self.path} cannot be used: {reason}.")

    def _set_aside(self) -> None:
        """Move the damaged file away, unless somebody else has done so."""
        try:
            if self.path.stat().st_ino != self._seen:
                return
            aside = self.path.with_name(f"{self.path.name}.damaged-{self._now():%Y%m%dT%H%M%S%f}")
            self.path.rename(aside)
            with suppress(FileNotFoundError):
                Path(f"{self.path}.wal").rename(f"{aside}.wal")
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unavailable("it is damaged") from error
        logger.warning("The library was damaged; it is kept as %s and a new one is begun.", aside)

    async def _close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(database.close)


def _transact(
    database: "duckdb.DuckDBPyConnection",
    work: "Callable[[duckdb.DuckDBPyConnection], Value]",
) -> Value:
    import duckdb

    database.begin()
    try:
        value = work(database)
        database.commit()
    except BaseException:
        with suppress(duckdb.Error):  # a transaction that failed for good is rolled back already
            database.rollback()
        raise
    return value


def _make(database: "duckdb.DuckDBPyConnection", steps: Sequence[str], version: int) -> None:
    for step in steps:
        database.execute(step)
    database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [SCHEMA, str(version)])


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(OTHERS))
