"""Page cache storage: the `PageCache` protocol and its SQLite implementation, an LRU cache with a size limit in bytes.

How long a page is fresh, and whether it may be stored at all, is decided in `page_cache.py`.
"""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.abc import TaskGroup

from kindly.frozen import frozen
from kindly.models import How, Page
from kindly.storage.sqlite import CLOSE_S, Schema, SqliteFile, transact
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)

USE_MARKED_EVERY_S = 60.0
PAUSE_S = 0.1
"""How long pages are gathered before they are written, while they are read."""
FILE_PAGE_BYTES = 32 * 1024
"""Of the file. Bodies are large, and take half the CPU time to write in such pages."""
UNWRITTEN_BYTES = 8_000_000
"""Of pages that are not written yet; with more, a page waits until it is written."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS pages_1 (
    key TEXT PRIMARY KEY, meta TEXT NOT NULL, body BLOB NOT NULL,
    size INTEGER NOT NULL, checked_at TEXT NOT NULL, used_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS pages_1_by_use ON pages_1 (used_at, size);
"""
GET = "SELECT meta, body, checked_at, used_at FROM pages_1 WHERE key = ?"
PUT = """
INSERT OR REPLACE INTO pages_1 (key, meta, body, size, checked_at, used_at)
VALUES (?, ?, ?, ?, ?, ?)
"""
TOUCH = "UPDATE pages_1 SET checked_at = ?, used_at = ? WHERE key = ?"
USE = "UPDATE pages_1 SET used_at = ? WHERE key = ?"
DROP = "DELETE FROM pages_1 WHERE key = ?"
SIZE = "SELECT COALESCE(SUM(size), 0) FROM pages_1"
EVICT = """
DELETE FROM pages_1 WHERE key IN (
    SELECT key FROM (SELECT key, SUM(size) OVER (ORDER BY used_at DESC, key) AS total FROM pages_1)
    WHERE total > ?
)
"""

META = tuple(one.name for one in fields(Page) if one.name not in {"body", "checked_at"})
"""Fields that are stored as JSON beside the body."""

Statement = tuple[str, tuple[object, ...]]
Row = tuple[str, bytes, str, float]


@dataclass(slots=True)
class _Reads:
    keys: list[str]
    rows: dict[str, Row] = field(default_factory=dict)
    done: anyio.Event = field(default_factory=anyio.Event)


@frozen
class CachedPage:
    """A page, and when its site last confirmed that it is current."""

    page: Page
    checked_at: datetime

    @property
    def key(self) -> str:
        return self.page.requested_url


class PageCache(Protocol):
    """Stores pages by the requested URL."""

    async def get(self, key: str) -> CachedPage | None:
        """The stored page, of any age."""

    async def put(self, cached: CachedPage) -> None:
        """Store a page, replacing an older one."""

    async def touch(self, cached: CachedPage) -> None:
        """Store a page's new `checked_at`."""

    async def drop(self, key: str) -> None:
        """Delete a page."""

    async def aclose(self) -> None:
        """Write what is pending, and close."""


class SqlitePageCache:
    """A page cache in one SQLite file that several processes share, or in memory.

    Concurrent reads, and concurrent writes, are batched into one access. With `tasks`, pages are written after they
    were returned. A file that cannot be used is replaced by a cache in memory, with one warning.
    """

    def __init__(
        self,
        path: str,
        now: Callable[[], datetime],
        max_bytes: int,
        warn: WarnOnce | None = None,
        tasks: TaskGroup | None = None,
    ) -> None:
        self._tasks = tasks
        self._file = SqliteFile(path, Schema(SCHEMA, FILE_PAGE_BYTES), "page cache", warn)
        self._now = now
        self._max_bytes = max_bytes
        self._write_lock = anyio.Lock()
        self._unwritten: dict[str, CachedPage | None] = {}
        self._queue: list[Statement] = []
        self._is_gathering = False
        self._reading: _Reads | None = None

    async def get(self, key: str) -> CachedPage | None:
        """The stored page of a URL, of any age."""
        if key in self._unwritten:
            return self._unwritten[key]
        row = (await self._rows(key)).get(key)
        if row is None:
            return None
        meta, body, checked_at, used_at = row
        now_s = self._now().timestamp()
        if now_s - used_at > USE_MARKED_EVERY_S:
            self._queue.append((USE, (now_s, key)))
        try:
            return CachedPage(_to_page(meta, body), datetime.fromisoformat(checked_at))
        except (ValueError, TypeError, KeyError):
            await self.drop(key)  # written by another version
            return None

    async def put(self, cached: CachedPage) -> None:
        """Store a page, unless it is larger than the whole cache."""
        meta = _to_meta(cached.page)
        size = len(cached.page.body) + len(meta)
        if size > self._max_bytes:
            return await self.drop(cached.key)
        self._unwritten[cached.key] = cached
        stamps = (cached.checked_at.isoformat(), self._now().timestamp())
        self._queue.append((PUT, (cached.key, meta, cached.page.body, size, *stamps)))
        return await self._write_soon()

    async def touch(self, cached: CachedPage) -> None:
        """Store that a page was found current."""
        self._unwritten[cached.key] = cached
        stamps = (cached.checked_at.isoformat(), self._now().timestamp())
        self._queue.append((TOUCH, (*stamps, cached.key)))
        await self._write_soon()

    async def drop(self, key: str) -> None:
        """Delete a page."""
        self._unwritten[key] = None
        self._queue.append((DROP, (key,)))
        await self._write_all()

    async def aclose(self) -> None:
        """Write what is pending, and close the file."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._write_all()
        await self._file.aclose()

    async def _rows(self, key: str) -> "dict[str, Row]":
        """The rows of `key` and of all keys requested concurrently, in one access."""
        batch = self._reading
        if batch is not None:
            batch.keys.append(key)
            await batch.done.wait()
            return batch.rows
        batch = self._reading = _Reads([key])
        with anyio.CancelScope(shield=True):
            try:
                await anyio.lowlevel.checkpoint()
                self._reading = None
                batch.rows = await self._file.run(partial(_read, batch.keys))
            finally:
                batch.done.set()
        return batch.rows

    async def _write_soon(self) -> None:
        """Have the queue written in the background; at once without one, or if it is large."""
        held = sum(len(one.page.body) for one in self._unwritten.values() if one is not None)
        if self._tasks is None or held > UNWRITTEN_BYTES:
            await self._write_all()
        elif not self._is_gathering:
            self._is_gathering = True
            self._tasks.start_soon(self._gather_and_write)

    async def _gather_and_write(self) -> None:
        try:
            await anyio.sleep(PAUSE_S)
        finally:
            self._is_gathering = False
        try:
            with anyio.CancelScope(shield=True):
                await self._write_all()
        except Exception:
            logger.exception("unexpected error while pages were written to the cache")

    async def _write_all(self) -> None:
        async with self._write_lock:
            if self._queue:
                batch, self._queue = self._queue, []
                shown = dict(self._unwritten)
                write = partial(self._write, batch)
                await self._file.run(partial(transact, "BEGIN IMMEDIATE", write))
                for key, cached in shown.items():
                    if self._unwritten.get(key) is cached:
                        del self._unwritten[key]

    def _write(self, batch: Sequence[Statement], database: "sqlite3.Connection") -> None:
        for sql, values in batch:
            database.execute(sql, values)
        (size,) = database.execute(SIZE).fetchone()
        if size > self._max_bytes:
            database.execute(EVICT, (self._max_bytes,))


def _read(keys: Sequence[str], database: "sqlite3.Connection") -> dict[str, Row]:
    found = ((key, database.execute(GET, (key,)).fetchone()) for key in keys)
    return {key: row for key, row in found if row is not None}


def _to_meta(page: Page) -> str:
    values = {name: getattr(page, name) for name in META}
    return json.dumps({**values, "fetched_at": page.fetched_at.isoformat(), "how": str(page.how)})


def _to_page(meta: str, body: bytes) -> Page:
    values = json.loads(meta)
    values["fetched_at"] = datetime.fromisoformat(values["fetched_at"])
    values["how"] = How.parse(values["how"])
    return Page(**values, body=body)
