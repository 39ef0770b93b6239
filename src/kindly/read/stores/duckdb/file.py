"""The library's DuckDB file. One process at a time can open it, so it is open only while there is work.

Other processes wait and retry. A damaged file is moved aside and a new one created; a newer one, or another program's,
is refused.
"""

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import anyio
import anyio.to_thread

from kindly.clock import Clock
from kindly.errors import StoreRefused, StoreUnavailable
from kindly.read.row_format import SCHEMA
from kindly.read.store import log_opening

if TYPE_CHECKING:
    import duckdb

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

WAIT_S = 60.0
"""How long to wait for another process that holds the file."""
MAX_HOLD_S = 0.5
"""How long to hold it while more work waits here, because other processes may wait, too."""
PAUSE_S = (0.01, 0.08)
YIELD_S = 0.1
"""How long to leave it closed after that, so that another process can open it."""
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
LOCKED_WORDINGS = (
    "Could not set lock",
    "Conflicting lock",
    "being used by another process",
    "is already attached by",
)
DAMAGED_WORDINGS = (
    "not a valid DuckDB database file",
    "Corrupt database file",
    "Could not read enough bytes",
    "replaying WAL",
)
NEWER_WORDING = "version number"
"""DuckDB has no error codes for these."""
HOLDER = re.compile(r"PID (\d+)")
SQLITE_HEADER = b"SQLite format 3"


class _Locked(Exception):
    """Another process has the file open, or another transaction changes the same rows."""

    def __init__(self, holder: str = "") -> None:
        super().__init__(holder)
        self.holder = holder


class _Damaged(Exception):
    """The file cannot be read."""


class DuckLibrary:
    """A file, opened for each burst of work and migrated by the steps in `migrations`."""

    def __init__(
        self,
        path: Path,
        migrations: Sequence[str],
        clock: Clock,
        timeout_s: float = WAIT_S,
    ) -> None:
        self.path = path
        self._migrations = migrations
        self._clock = clock
        self._timeout_s = timeout_s
        self._lock = anyio.Lock()
        self._waiting = 0
        self._database: duckdb.DuckDBPyConnection | None = None
        self._opened_at = 0.0
        self._closed_until = 0.0
        self._opened_inode: int | None = None
        self._was_opened = False

    async def run(self, work: "Callable[[duckdb.DuckDBPyConnection], Value]") -> Value:
        """Run `work` in a thread, in a transaction. It may run more than once."""
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._with_retries(work)
        finally:
            try:
                await self._close_if_due()
            finally:
                self._lock.release()

    async def _close_if_due(self) -> None:
        """Close the file if no work waits here, or if it was open for long enough."""
        if not self._waiting or self._clock.monotonic() - self._opened_at > MAX_HOLD_S:
            await self._close()
            self._closed_until = self._clock.monotonic() + (YIELD_S if self._waiting else 0)

    async def aclose(self) -> None:
        """Wait for the current work, then close the file."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                await self._close()

    async def _with_retries(self, work: "Callable[[duckdb.DuckDBPyConnection], Value]") -> Value:
        give_up = self._clock.monotonic() + self._timeout_s
        repaired = False
        await self._clock.sleep(max(0.0, self._closed_until - self._clock.monotonic()))
        while True:
            if self._database is None:
                self._opened_at = self._clock.monotonic()
            try:
                return await anyio.to_thread.run_sync(self._attempt, work)
            except _Locked as locked:
                if self._clock.monotonic() > give_up:
                    raise self._unavailable(
                        f"{locked.holder or 'another process'} has held it for too long"
                    ) from locked
                low, high = PAUSE_S  # at random, so that no two processes fall into step
                await self._clock.sleep(low + (high - low) * self._clock.random())
            except _Damaged as damaged:
                await self._close()
                if repaired:
                    raise self._unavailable("it is damaged") from damaged
                await anyio.to_thread.run_sync(self._move_aside)
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
        if any(wording in text for wording in LOCKED_WORDINGS):
            holder = HOLDER.search(text)
            return _Locked(f"process {holder[1]}" if holder else "")
        if any(wording in text for wording in DAMAGED_WORDINGS):
            return _Damaged()
        if NEWER_WORDING in text:
            return StoreRefused(
                f"{self.path} was written by another version of DuckDB. Install that version, "
                "or set DATA_DIR to another folder."
            )
        if self._database is not None:  # after some errors the connection is unusable
            self._database.close()
            self._database = None
        return self._unavailable(f"DuckDB reported {type(error).__name__}")

    def _open(self) -> "duckdb.DuckDBPyConnection":
        import duckdb

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.path.exists():
                self._create()
            self._opened_inode = self.path.stat().st_ino if self.path.exists() else None
            if self._opened_inode is not None and _head(self.path) == SQLITE_HEADER:
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
        if not self._was_opened:
            log_opening("duckdb", str(self.path))
            self._was_opened = True
        return database

    def _create(self) -> None:
        """Create the file under another name and link it into place.

        DuckDB creates a file before it locks it: another process that opens it in between finds it damaged.
        """
        import duckdb

        new = self.path.with_name(f"{self.path.name}.new-{uuid4().hex}")
        try:
            with duckdb.connect(str(new), config=CONFIG) as database:
                self._migrate(database)
            # Another process was first, or the file system has no hard links and DuckDB creates the file in place.
            with suppress(OSError):
                self.path.hardlink_to(new)
        finally:
            for leftover in (new, Path(f"{new}.wal")):
                leftover.unlink(missing_ok=True)

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
                _transact(database, lambda one: _upgrade(one, self._migrations[version:], newest))
            except (
                duckdb.CatalogException
            ) as error:  # another store of this process created them first
                raise _Locked from error

    def _foreign(self) -> StoreRefused:
        return StoreRefused(
            f"{self.path} is another program's database. Move it away, or set DATA_DIR to another folder."
        )

    def _unavailable(self, reason: str) -> StoreUnavailable:
        return StoreUnavailable(f"The library {self.path} cannot be used: {reason}.")

    def _move_aside(self) -> None:
        """Rename the damaged file, unless another process has replaced it already."""
        try:
            if self.path.stat().st_ino != self._opened_inode:
                return
            aside = self.path.with_name(
                f"{self.path.name}.damaged-{self._clock.now():%Y%m%dT%H%M%S%f}"
            )
            self.path.rename(aside)
            with suppress(FileNotFoundError):
                Path(f"{self.path}.wal").rename(f"{aside}.wal")
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unavailable("it is damaged") from error
        logger.warning(
            "The library was damaged; it was renamed to %s and a new one is created.", aside
        )

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
        with suppress(duckdb.Error):  # DuckDB has rolled back some failed transactions itself
            database.rollback()
        raise
    return value


def _upgrade(database: "duckdb.DuckDBPyConnection", steps: Sequence[str], version: int) -> None:
    for step in steps:
        database.execute(step)
    database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [SCHEMA, str(version)])


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER))
