"""Collections and the crawl queue as values, and the protocol that every store implements for them.

A collection is a set of pages with a name, a version and an origin. Its queue has one row per page: pending, leased to
a worker until a moment, done, or failed with the reason. Rows are durable, so that a crawl continues after a crash.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from kindly.errors import InputError
from kindly.frozen import frozen

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+~-]{0,99}")
VERSION = re.compile(r"[A-Za-z0-9._/+~-]{1,60}")


class CollectionState(StrEnum):
    """What is being done with a collection."""

    DISCOVERING = "discovering"
    CRAWLING = "crawling"
    READY = "ready"


class TaskState(StrEnum):
    """The state of one page in the queue."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"


@frozen
class CrawlRules:
    """Which pages belong to a collection, and how many."""

    include: tuple[str, ...] = ()
    """Globs over the path; if there are any, one must match."""
    exclude: tuple[str, ...] = ()
    max_pages: int = 2_000
    depth: int = 10
    """Links from the first page."""

    def to_json(self) -> str:
        """As text, for a column."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "CrawlRules":
        """The rules of such a text."""
        values = json.loads(text)
        lists = {name: tuple(values.get(name, ())) for name in ("include", "exclude")}
        return cls(**{**values, **lists})


@frozen
class Collection:
    """A named set of pages, in one version."""

    name: str
    origin: str
    """What the user asked for, such as an address, a folder or `pypi:fastapi@0.115`."""
    created_at: datetime
    version: str = ""
    start: str = ""
    """The address where the crawl begins, once it is known; its path is the scope of links."""
    via: str = ""
    """How the pages were found: `llms-full.txt`, `llms.txt`, `sitemap`, `links`, `files`."""
    state: CollectionState = CollectionState.DISCOVERING
    checked_at: datetime | None = None
    """When the last crawl or refresh ended."""
    rules: CrawlRules = CrawlRules()
    note: str = ""
    """Why the crawl ended where it did, if it is not complete."""

    @property
    def id(self) -> str:
        """`name@version`, or the name alone."""
        return f"{self.name}@{self.version}" if self.version else self.name


@frozen
class PageTask:
    """One page of a collection's queue."""

    url: str
    depth: int = 0
    state: TaskState = TaskState.PENDING
    reason: str = ""
    """Why it failed."""
    etag: str | None = None
    last_modified: str | None = None
    lastmod: str = ""
    """The date of its last change according to the sitemap."""
    tries: int = 0
    due_at: datetime | None = None
    """Until when it is leased, or before when it may not be tried; None: at any time."""
    worker: str = ""


@frozen
class Added:
    """How many pages of an addition were new, and how many were left out because of the limit."""

    new: int
    left_out: int = 0


@frozen
class CollectionStatus:
    """A collection, and how far its crawl is."""

    collection: Collection
    tasks: Mapping[TaskState, int] = field(default_factory=dict)
    pages: int = 0
    """In the library."""
    size_bytes: int = 0

    @property
    def left(self) -> int:
        """Pages that are still to be fetched."""
        return self.tasks.get(TaskState.PENDING, 0) + self.tasks.get(TaskState.LEASED, 0)


class Crawls(Protocol):
    """Collections and their queues in a database. Every method raises `StoreUnavailable` if retries do not help."""

    async def collections(self) -> list[CollectionStatus]:
        """All collections, by name and version."""
        ...

    async def collection(self, id_: str) -> CollectionStatus | None:
        """One collection."""
        ...

    async def save(self, collection: Collection) -> None:
        """Add a collection, or replace what is known about it."""
        ...

    async def drop(self, id_: str) -> bool:
        """Drop a collection and its queue, but not its pages; whether there was one."""
        ...

    async def add(self, id_: str, tasks: Sequence[PageTask], most: int) -> Added:
        """Queue the pages that are not in the queue yet, up to `most` pages of the collection."""
        ...

    async def lease(
        self, id_: str, worker: str, limit: int, now: datetime, until: datetime
    ) -> list[PageTask]:
        """Take up to `limit` pages that are due, in order; no other worker gets them until then."""
        ...

    async def renew(self, id_: str, worker: str, until: datetime) -> None:
        """Extend the leases of a worker."""
        ...

    async def release(self, id_: str, worker: str) -> int:
        """Make the pages of a worker that ended available again; return how many there were."""
        ...

    async def workers(self, id_: str) -> list[str]:
        """The workers that hold leases."""
        ...

    async def settle(self, id_: str, tasks: Sequence[PageTask]) -> None:
        """Replace the rows of these pages."""
        ...

    async def restart(self, id_: str) -> int:
        """Make all pages pending again, for a refresh; return how many there are."""
        ...

    async def tasks(self, id_: str, *, limit: int = 1_000, after: str = "") -> list[PageTask]:
        """Pages of the queue by address, from the one after `after` on."""
        ...

    async def reserve(self, host: str, now: datetime, interval_s: float) -> datetime:
        """The next moment at which a request to a host is allowed, if all workers keep this interval."""
        ...


def collection_name(text: str) -> tuple[str, str]:
    """Name and version of `name` or `name@version`.

    Raises:
        InputError: it has characters that an address cannot have.
    """
    name, _, version = text.strip().partition("@")
    if not NAME.fullmatch(name) or (version and not VERSION.fullmatch(version)):
        raise InputError(
            "A collection's name has letters, digits and . _ - + ~ / and may have a version: name@1.2.",
            field="collection",
        )
    return name, version
