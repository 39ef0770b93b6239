"""The tables of collections and their queues, in SQL that SQLite, DuckDB and PostgreSQL share.

A store gives the dialect and two functions that run work in a transaction; what the statements return is the same.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from kindly.frozen import frozen
from kindly.read.crawls.collection import (
    Added,
    Collection,
    CollectionState,
    CollectionStatus,
    CrawlRules,
    PageTask,
    TaskState,
)
from kindly.read.crawls.micros import from_micros, to_micros

Value = TypeVar("Value")
Item = TypeVar("Item")
Row = tuple[Any, ...]
Execute = Callable[[str, Sequence[object]], list[Row]]
"""Runs one statement and returns its rows."""
BATCH = 500
COLLECTION = "id, name, version, origin, start, via, state, created, checked, rules, note"
TASK = "url, depth, state, reason, etag, last_modified, lastmod, tries, due, worker"


class Run(Protocol):
    """Runs work in a transaction."""

    def __call__(self, work: Callable[[Execute], Value], /) -> Awaitable[Value]: ...


@frozen
class Dialect:
    """How a database writes the shared statements."""

    prefix: str = ""
    """Of table names."""
    marker: str = "?"
    lock: str = ""
    """Locks the rows of a query until the transaction ends."""
    skip_locked: str = ""
    """The same, without rows that others have locked."""
    integer: str = "BIGINT"
    has_index: bool = True

    def __call__(self, sql: str) -> str:
        return sql.replace("%", self.prefix).replace("?", self.marker)

    @property
    def migration(self) -> str:
        """The statements that create the tables."""
        return ";\n".join(map(self, self._tables()))

    def _tables(self) -> list[str]:
        whole = self.integer
        tables = [
            "CREATE TABLE %collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, "
            "origin TEXT NOT NULL, start TEXT NOT NULL, via TEXT NOT NULL, state TEXT NOT NULL, "
            f"created {whole} NOT NULL, checked {whole}, rules TEXT NOT NULL, note TEXT NOT NULL)",
            "CREATE TABLE %crawl_pages (key TEXT PRIMARY KEY, collection TEXT NOT NULL, position "
            f"{whole} NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, "
            "etag TEXT, last_modified TEXT, lastmod TEXT NOT NULL, tries INTEGER NOT NULL, "
            f"due {whole} NOT NULL, worker TEXT NOT NULL)",
            f"CREATE TABLE %crawl_pace (host TEXT PRIMARY KEY, next {whole} NOT NULL)",
        ]
        if self.has_index:
            tables.append(
                "CREATE INDEX %crawl_pages_by_state ON %crawl_pages (collection, state, position)"
            )
        return tables


class SqlCrawls:
    """`Crawls` in the tables of a store."""

    def __init__(self, dialect: Dialect, read: Run, write: Run) -> None:
        self._sql = dialect
        self._read = read
        self._write = write

    async def collections(self) -> list[CollectionStatus]:
        """All collections, by name and version."""
        return await self._read(partial(self._statuses, ""))

    async def collection(self, id_: str) -> CollectionStatus | None:
        """One collection."""
        return next(iter(await self._read(partial(self._statuses, id_))), None)

    async def save(self, collection: Collection) -> None:
        """Add or replace a collection."""
        await self._write(partial(self._save, collection))

    async def drop(self, id_: str) -> bool:
        """Drop a collection and its queue."""
        return await self._write(partial(self._drop, id_))

    async def add(self, id_: str, tasks: Sequence[PageTask], most: int) -> Added:
        """Queue new pages, up to the limit."""
        return await self._write(partial(self._add, id_, tasks, most))

    async def lease(
        self, id_: str, worker: str, limit: int, now: datetime, until: datetime
    ) -> list[PageTask]:
        """Take pages that are due."""
        return await self._write(partial(self._lease, id_, worker, limit, (now, until)))

    async def renew(self, id_: str, worker: str, until: datetime) -> None:
        """Extend the leases of a worker."""
        sql = "UPDATE %crawl_pages SET due = ? WHERE collection = ? AND state = ? AND worker = ?"
        values = (to_micros(until), id_, str(TaskState.LEASED), worker)
        await self._write(lambda execute: execute(self._sql(sql), values))

    async def release(self, id_: str, worker: str) -> int:
        """Make the pages of a worker available again."""
        return await self._write(partial(self._release, id_, worker))

    async def workers(self, id_: str) -> list[str]:
        """The workers that hold leases."""
        sql = (
            "SELECT DISTINCT worker FROM %crawl_pages WHERE collection = ? AND state = ? ORDER BY 1"
        )
        values = (id_, str(TaskState.LEASED))
        rows = await self._read(lambda execute: execute(self._sql(sql), values))
        return [worker for (worker,) in rows]

    async def settle(self, id_: str, tasks: Sequence[PageTask]) -> None:
        """Replace the rows of these pages."""
        if tasks:
            await self._write(partial(self._settle, id_, tasks))

    async def restart(self, id_: str) -> int:
        """Make all pages pending again."""
        return await self._write(partial(self._restart, id_))

    async def tasks(self, id_: str, *, limit: int = 1_000, after: str = "") -> list[PageTask]:
        """Pages of the queue by address."""
        sql = (
            f"SELECT {TASK} FROM %crawl_pages WHERE collection = ? AND url > ? ORDER BY url LIMIT ?"  # noqa: S608
        )
        rows = await self._read(lambda execute: execute(self._sql(sql), (id_, after, limit)))
        return list(map(_to_task, rows))

    async def reserve(self, host: str, now: datetime, interval_s: float) -> datetime:
        """The next moment for a request to a host."""
        return await self._write(partial(self._reserve, host, now, interval_s))

    def _statuses(self, id_: str, execute: Execute) -> list[CollectionStatus]:
        which, values = (" WHERE id = ?", (id_,)) if id_ else ("", ())
        rows = execute(
            self._sql(f"SELECT {COLLECTION} FROM %collections{which} ORDER BY name, version"),  # noqa: S608
            values,
        )
        counts: dict[str, dict[TaskState, int]] = {}
        own = " WHERE collection = ?" if id_ else ""
        states = (
            f"SELECT collection, state, count(*) FROM %crawl_pages{own} GROUP BY collection, state"  # noqa: S608
        )
        for collection, state, count in execute(self._sql(states), values):
            counts.setdefault(collection, {})[TaskState(state)] = count
        sizes = self._sizes(id_, execute)
        found = [_to_collection(row) for row in rows]
        return [
            CollectionStatus(one, counts.get(one.id, {}), *sizes.get(one.id, (0, 0)))
            for one in found
        ]

    def _sizes(self, id_: str, execute: Execute) -> Mapping[str, tuple[int, int]]:
        which, values = ("collection = ?", (id_,)) if id_ else ("collection <> ''", ())
        sql = f"SELECT collection, count(*), sum(size) FROM %documents WHERE {which} GROUP BY collection"  # noqa: S608
        return {one: (pages, int(size)) for one, pages, size in execute(self._sql(sql), values)}

    def _save(self, collection: Collection, execute: Execute) -> None:
        names = COLLECTION.split(", ")
        changed = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        execute(
            self._sql(
                f"INSERT INTO %collections ({COLLECTION}) VALUES ({_markers(names)}) "  # noqa: S608
                f"ON CONFLICT (id) DO UPDATE SET {changed}"
            ),
            _from_collection(collection),
        )

    def _drop(self, id_: str, execute: Execute) -> bool:
        known = execute(self._sql("SELECT id FROM %collections WHERE id = ?"), (id_,))
        execute(self._sql("DELETE FROM %crawl_pages WHERE collection = ?"), (id_,))
        execute(self._sql("DELETE FROM %collections WHERE id = ?"), (id_,))
        return bool(known)

    def _add(self, id_: str, tasks: Sequence[PageTask], most: int, execute: Execute) -> Added:
        execute(self._sql(f"SELECT id FROM %collections WHERE id = ?{self._sql.lock}"), (id_,))  # noqa: S608
        ((count, last),) = execute(
            self._sql(
                "SELECT count(*), coalesce(max(position), 0) FROM %crawl_pages WHERE collection = ?"
            ),
            (id_,),
        )
        given = {_key(id_, task.url): task for task in tasks}
        known = self._known(list(given), execute)
        new = [(key, task) for key, task in given.items() if key not in known]
        added = new[: max(0, most - count)]
        names = f"key, collection, position, {TASK}"
        insert = self._sql(
            f"INSERT INTO %crawl_pages ({names}) VALUES ({_markers(names.split(', '))}) "  # noqa: S608
            "ON CONFLICT DO NOTHING"
        )
        for number, (key, task) in enumerate(added, start=last + 1):
            execute(insert, (key, id_, number, *_from_task(task)))
        return Added(len(added), len(new) - len(added))

    def _known(self, keys: Sequence[str], execute: Execute) -> set[str]:
        known: set[str] = set()
        for some in _batches(keys):
            sql = f"SELECT key FROM %crawl_pages WHERE key IN ({_markers(some)})"  # noqa: S608
            known.update(key for (key,) in execute(self._sql(sql), some))
        return known

    def _lease(
        self,
        id_: str,
        worker: str,
        limit: int,
        span: tuple[datetime, datetime],
        execute: Execute,
    ) -> list[PageTask]:
        now, until = map(to_micros, span)
        found = execute(
            self._sql(
                f"SELECT key, {TASK} FROM %crawl_pages WHERE collection = ? AND state IN (?, ?) AND due <= ? "  # noqa: S608
                f"ORDER BY position LIMIT ?{self._sql.skip_locked}"
            ),
            (id_, str(TaskState.PENDING), str(TaskState.LEASED), now, limit),
        )
        for some in _batches(found):
            execute(
                self._sql(
                    "UPDATE %crawl_pages SET state = ?, worker = ?, due = ?, tries = tries + 1 "  # noqa: S608
                    f"WHERE key IN ({_markers(some)})"
                ),
                (str(TaskState.LEASED), worker, until, *(row[0] for row in some)),
            )
        leased = {"state": TaskState.LEASED, "worker": worker, "due_at": from_micros(until)}
        return [_to_task(row[1:], tried=1, **leased) for row in found]

    def _release(self, id_: str, worker: str, execute: Execute) -> int:
        held = (id_, str(TaskState.LEASED), worker)
        which = "WHERE collection = ? AND state = ? AND worker = ?"
        ((count,),) = execute(self._sql(f"SELECT count(*) FROM %crawl_pages {which}"), held)  # noqa: S608
        sql = f"UPDATE %crawl_pages SET state = ?, worker = '', due = 0 {which}"  # noqa: S608
        execute(self._sql(sql), (str(TaskState.PENDING), *held))
        return int(count)

    def _settle(self, id_: str, tasks: Sequence[PageTask], execute: Execute) -> None:
        changed = ", ".join(f"{name} = ?" for name in TASK.split(", ")[1:])
        sql = self._sql(f"UPDATE %crawl_pages SET {changed} WHERE key = ?")  # noqa: S608
        for key, task in sorted((_key(id_, task.url), task) for task in tasks):
            execute(sql, (*_from_task(task)[1:], key))

    def _restart(self, id_: str, execute: Execute) -> int:
        sql = "UPDATE %crawl_pages SET state = ?, due = 0, tries = 0, worker = '' WHERE collection = ?"
        execute(self._sql(sql), (str(TaskState.PENDING), id_))
        count = "SELECT count(*) FROM %crawl_pages WHERE collection = ?"
        return int(execute(self._sql(count), (id_,))[0][0])

    def _reserve(self, host: str, now: datetime, interval_s: float, execute: Execute) -> datetime:
        moment = to_micros(now)
        insert = "INSERT INTO %crawl_pace (host, next) VALUES (?, ?) ON CONFLICT DO NOTHING"
        execute(self._sql(insert), (host, moment))
        ((following,),) = execute(
            self._sql(f"SELECT next FROM %crawl_pace WHERE host = ?{self._sql.lock}"),  # noqa: S608
            (host,),
        )
        at = max(moment, following)
        execute(
            self._sql("UPDATE %crawl_pace SET next = ? WHERE host = ?"),
            (at + int(interval_s * 1_000_000), host),
        )
        return from_micros(at)


def _key(id_: str, url: str) -> str:
    """A row's key: a hash, because an address may be too long for an index."""
    return sha256(f"{id_}\n{url}".encode()).hexdigest()


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for first in range(0, len(items), BATCH):
        yield items[first : first + BATCH]


def _markers(items: Sequence[object]) -> str:
    return ", ".join("?" * len(items))


def _from_collection(one: Collection) -> Row:
    checked = None if one.checked_at is None else to_micros(one.checked_at)
    dates = (to_micros(one.created_at), checked)
    texts = (one.id, one.name, one.version, one.origin, one.start, one.via, str(one.state))
    return (*texts, *dates, one.rules.to_json(), one.note)


def _to_collection(row: Row) -> Collection:
    _, name, version, origin, start, via, state, created, checked, rules, note = row
    return Collection(
        name=name,
        origin=origin,
        created_at=from_micros(created),
        version=version,
        start=start,
        via=via,
        state=CollectionState(state),
        checked_at=None if checked is None else from_micros(checked),
        rules=CrawlRules.from_json(rules),
        note=note,
    )


def _from_task(task: PageTask) -> Row:
    due = 0 if task.due_at is None else to_micros(task.due_at)
    return (
        task.url,
        task.depth,
        str(task.state),
        task.reason,
        task.etag,
        task.last_modified,
        task.lastmod,
        task.tries,
        due,
        task.worker,
    )


def _to_task(row: Row, *, tried: int = 0, **changes: Any) -> PageTask:
    url, depth, state, reason, etag, last_modified, lastmod, tries, due, worker = row
    known: dict[str, Any] = {
        "state": TaskState(state),
        "due_at": from_micros(due) if due else None,
        "worker": worker,
    }
    return PageTask(
        url=url,
        depth=depth,
        reason=reason,
        etag=etag,
        last_modified=last_modified,
        lastmod=lastmod,
        tries=tries + tried,
        **known | changes,
    )
