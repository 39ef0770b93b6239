"""Where pages are kept between calls: the `PageCache` protocol, and SQLite behind it.

Bytes in, the same bytes out, up to a size; the longest unused page leaves first. How long a page is
fresh, and whether it may be kept at all, is decided in `cache.py`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread

from kindly.models import How, Page
from kindly.storage.sqlite import CLOSE_S, SqliteFile, transact
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import sqlite3

USE_MARKED_EVERY_S = 60.0

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
"""What is kept of a page beside its bytes."""

Statement = tuple[str, tuple[object, ...]]
Row = tuple[str, bytes, str, float]


@dataclass(slots=True)
class _Reads:
    keys: list[str]
    rows: dict[str, Row] = field(default_factory=dict)
    done: anyio.Event = field(default_factory=anyio.Event)


@dataclass(frozen=True, slots=True)
class Kept:
    """A page, and when its site last said that it is current."""

    page: Page
    checked_at: datetime

    @property
    def key(self) -> str:
        """The address it was asked for under."""
        return self.page.requested_url


class PageCache(Protocol):
    """Keeps pages by the address they were asked for."""

    async def get(self, key: str) -> Kept | None:
        """What is kept, of any age."""

    async def put(self, kept: Kept) -> None:
        """Keep a page, in the place of an older one."""

    async def touch(self, kept: Kept) -> None:
        """Note a kept page's new `checked_at`."""

    async def drop(self, key: str) -> None:
        """Forget a page."""

    async def aclose(self) -> None:
        """Finish what is to be written."""


class SqlitePageCache:
    """A page cache in one SQLite file that several processes share, or in memory.

    What is read or written at the same moment goes in one trip to the file. A file that cannot be
    used is left alone, with one warning, for a cache in memory.
    """

    def __init__(
        self,
        path: str,
        now: Callable[[], datetime],
        max_bytes: int,
        alarm: WarnOnce | None = None,
    ) -> None:
        self._file = SqliteFile(path, SCHEMA, "page cache", alarm)
        self._now = now
        self._max_bytes = max_bytes
        self._write_lock = anyio.Lock()
        self._unwritten: dict[str, Kept | None] = {}
        self._queue: list[Statement] = []
        self._reading: _Reads | None = None

    async def get(self, key: str) -> Kept | None:
        """What is kept of an address, of any age."""
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
            return Kept(_to_page(meta, body), datetime.fromisoformat(checked_at))
        except (ValueError, TypeError, KeyError):
            await self.drop(key)  # written by another version
            return None

    async def put(self, kept: Kept) -> None:
        """Keep a page, unless it alone would fill the cache."""
        meta = _to_meta(kept.page)
        size = len(kept.page.body) + len(meta)
        if size > self._max_bytes:
            return await self.drop(kept.key)
        self._unwritten[kept.key] = kept
        stamps = (kept.checked_at.isoformat(), self._now().timestamp())
        self._queue.append((PUT, (kept.key, meta, kept.page.body, size, *stamps)))
        return await self._write_all()

    async def touch(self, kept: Kept) -> None:
        """Note that a kept page was found current."""
        self._unwritten[kept.key] = kept
        stamps = (kept.checked_at.isoformat(), self._now().timestamp())
        self._queue.append((TOUCH, (*stamps, kept.key)))
        await self._write_all()

    async def drop(self, key: str) -> None:
        """Forget a page."""
        self._unwritten[key] = None
        self._queue.append((DROP, (key,)))
        await self._write_all()

    async def aclose(self) -> None:
        """Write what is left and close the file."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._write_all()
        await self._file.aclose()

    async def _rows(self, key: str) -> "dict[str, Row]":
        """The rows of `key` and of what else is asked for at the same moment, in one trip."""
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

    async def _write_all(self) -> None:
        async with self._write_lock:
            if self._queue:
                batch, self._queue = self._queue, []
                shown = dict(self._unwritten)
                write = partial(self._write, batch)
                await self._file.run(partial(transact, "BEGIN IMMEDIATE", write))
                for key, kept in shown.items():
                    if self._unwritten.get(key) is kept:
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
