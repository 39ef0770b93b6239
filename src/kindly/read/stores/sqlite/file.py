"""The library's SQLite file, which several processes read and write at the same time (WAL mode).

Readers have their own connections and never wait for a writer; writers wait for each other. A damaged file is moved
aside and a new one created; a newer one, or another program's, is refused.
"""

import logging
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from kindly.clock import Clock
from kindly.errors import StoreRefused, StoreUnavailable
from kindly.read.row_format import SCHEMA
from kindly.read.store import log_opening
from kindly.read.stores.sqlite.batch import WriteBatches
from kindly.storage.sqlite import (
    BUSY,
    BUSY_CODES,
    CANNOT_OPEN,
    DAMAGED,
    LASTING,
    code_of,
    enter_wal_mode,
    reason_of,
    transact,
)

if TYPE_CHECKING:
    import sqlite3

    from kindly.read.stores.sqlite.batch import Prepare

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

APPLICATION_ID = 0x4B6E644C
READERS = 2
BUSY_S = 10.0
"""How long to wait for other processes that write, or that create the file."""
ATTEMPT_S = 0.05
"""How long one attempt waits in its thread; between attempts the caller can be cancelled."""
PAUSE_S = 0.01
CLOSE_S = 5.0
SIDE_FILES = ("-wal", "-shm")
VACUUMED_PAGES = 2000


class SqliteLibrary:
    """A file, opened at first use and migrated by the steps in `migrations`."""

    def __init__(
        self,
        path: Path,
        migrations: Sequence[str],
        clock: Clock,
        timeout_s: float = BUSY_S,
    ) -> None:
        self.path = path
        self._migrations = migrations
        self._clock = clock
        self._timeout_s = timeout_s
        self._readers = anyio.CapacityLimiter(READERS)
        self._writers = anyio.CapacityLimiter(1)
        self._batches = WriteBatches(partial(self._with_retries, limiter=self._writers))
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._inode: int | None = None
        """Of the file that was checked and migrated."""
        self._opened_inode: int | None = None
        """Of the file that was opened last."""

    async def read(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        """Run `work` in a thread, in a read transaction."""
        return await self._with_retries(partial(transact, "BEGIN", work), self._readers)

    async def write(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        """Run `work` in a thread, in a write transaction. It may run more than once."""
        return await self._with_retries(partial(transact, "BEGIN IMMEDIATE", work), self._writers)

    async def write_soon(self, prepare: "Prepare") -> None:
        """`write` in two steps: `prepare` runs before the transaction, which waiting writes share."""
        await self._batches.write(prepare)

    async def tidy(self) -> None:
        """Return free space to the disk, a little at a time."""
        await self._with_retries(_vacuum, self._writers)

    async def aclose(self) -> None:
        with anyio.move_on_after(CLOSE_S, shield=True):
            await anyio.to_thread.run_sync(self._close)

    async def _with_retries(
        self, work: "Callable[[sqlite3.Connection], Value]", limiter: anyio.CapacityLimiter
    ) -> Value:
        give_up = math.inf
        while True:
            try:
                return await anyio.to_thread.run_sync(self._attempt, work, limiter=limiter)
            except _Busy as busy:
                now = self._clock.monotonic()
                give_up = min(give_up, now + self._timeout_s)
                if now >= give_up:
                    raise self._unavailable(BUSY) from busy
            await self._clock.sleep(PAUSE_S)

    def _attempt(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        import sqlite3

        try:
            return self._attempt_once(work)
        except sqlite3.DatabaseError as error:
            if code_of(error) not in LASTING:
                raise self._unavailable(code_of(error)) from error
        self._move_aside()
        try:
            return self._attempt_once(work)
        except sqlite3.Error as error:
            raise self._unavailable(code_of(error)) from error

    def _attempt_once(self, work: "Callable[[sqlite3.Connection], Value]") -> Value:
        import sqlite3

        try:
            with self._connection() as database:
                try:
                    return work(database)
                except sqlite3.OperationalError as error:
                    if code_of(error) not in BUSY_CODES:
                        raise
                    busy = error  # the connection is still usable if the file is busy: keep it
        except sqlite3.OperationalError as error:  # opening or migrating the file
            if code_of(error) not in BUSY_CODES:
                raise
            busy = error
        raise _Busy from busy

    @contextmanager
    def _connection(self) -> "Iterator[sqlite3.Connection]":
        """A connection to the file that is at the path now; closed if `work` fails."""
        with self._lock:
            if self._inode is None or _inode(self.path) != self._inode:
                self._prepare()
            database = self._idle.pop() if self._idle else None
            inode = self._inode
        if database is None:
            database = _connect(self.path)
        try:
            yield database
        except BaseException:
            database.close()
            raise
        with self._lock:
            if inode == self._inode:
                self._idle.append(database)
                return
        database.close()

    def _prepare(self) -> None:
        """Create the file, or check its owner and version."""
        self._close_idle()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"The library cannot be kept at {self.path}: {error.strerror}. "
                "Set DATA_DIR to a folder that can be written.",
                reason=reason_of(CANNOT_OPEN),
            ) from error
        self._inode, self._opened_inode = None, _inode(self.path)
        with closing(_connect(self.path)) as database:
            self._migrate(database)
        self._inode = self._opened_inode
        log_opening("sqlite", str(self.path))

    def _migrate(self, database: "sqlite3.Connection") -> None:
        if self._version(database) == len(self._migrations):
            return
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        enter_wal_mode(database)
        transact("BEGIN IMMEDIATE", self._upgrade, database)

    def _upgrade(self, database: "sqlite3.Connection") -> None:
        """Run the migrations that the file lacks."""
        newest = str(len(self._migrations))
        for step in self._migrations[self._version(database) :]:
            for statement in step.split(";\n"):
                database.execute(statement)
        database.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (SCHEMA, newest))
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _version(self, database: "sqlite3.Connection") -> int:
        """The version of the file; 0 if it is new."""
        (owner,) = database.execute("PRAGMA application_id").fetchone()
        if owner != APPLICATION_ID:
            (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not owner and not tables:
                return 0
            # Another process may have created the library between the two queries.
            if database.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
                raise StoreRefused(
                    f"{self.path} is another program's database. Move it away, or set DATA_DIR to another folder."
                )
        row = database.execute("SELECT value FROM meta WHERE key = ?", (SCHEMA,)).fetchone()
        if int(row[0]) > len(self._migrations):
            raise StoreRefused(
                f"{self.path} was written by a newer version of Kindly (library version {row[0]}, this one knows "
                f"{len(self._migrations)}). Upgrade Kindly, or set DATA_DIR to another folder."
            )
        return int(row[0])

    def _move_aside(self) -> None:
        """Rename the damaged file, unless another process has replaced it already."""
        with self._lock:
            self._inode = None
            self._close_idle()
            if _inode(self.path) != self._opened_inode:
                return
            aside = self.path.with_name(
                f"{self.path.name}.damaged-{self._clock.now():%Y%m%dT%H%M%S%f}"
            )
            try:
                self.path.rename(aside)
                for suffix in SIDE_FILES:
                    with suppress(FileNotFoundError):
                        Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
            except FileNotFoundError:
                return
            except OSError as error:
                raise self._unavailable(DAMAGED) from error
        logger.warning(
            "The library was damaged; it was renamed to %s and a new one is created.", aside
        )

    def _unavailable(self, code: int) -> StoreUnavailable:
        reason = reason_of(code)
        return StoreUnavailable(f"The library {self.path} cannot be used: {reason}.", reason=reason)

    def _close(self) -> None:
        with self._lock:
            self._close_idle()
            self._inode = None

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()


class _Busy(Exception):
    """Another process holds the file."""


def _connect(path: Path) -> "sqlite3.Connection":
    import sqlite3

    database = sqlite3.connect(
        path, timeout=ATTEMPT_S, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA cache_size = -2000")
        database.execute("PRAGMA mmap_size = 0")  # mapped files count as the server's memory
        database.execute("PRAGMA journal_size_limit = 67108864")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _vacuum(database: "sqlite3.Connection") -> None:
    database.executescript(
        f"PRAGMA incremental_vacuum({VACUUMED_PAGES})"
    )  # `execute` would run only one step


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
