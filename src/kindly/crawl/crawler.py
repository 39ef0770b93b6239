"""The crawl of one collection: workers lease pages from the durable queue, fetch them, and store them in batches.

A page is done when it is stored, so a killed crawl loses and repeats only the pages in hand. Any number of crawlers, in
any number of processes, can work on one queue.
"""

import logging
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol
from uuid import uuid4

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from kindly import urls
from kindly.clock import Clock
from kindly.crawl.page_links import links_on
from kindly.crawl.scope import LeftOut, SiteScope
from kindly.errors import (
    ExtractError,
    FetchError,
    KindlyError,
    ModelMismatch,
    PageNotFound,
    StoreUnavailable,
)
from kindly.frozen import frozen
from kindly.models import RETRYABLE, Document, Page
from kindly.read.crawls.collection import Collection, PageTask, TaskState
from kindly.read.indexing.index_protocol import QueuedPage
from kindly.read.library import page_of_collection
from kindly.read.store import Store
from kindly.stages import Progress

logger = logging.getLogger(__name__)

OUT_OF_SCOPE = "redirects out of the collection"
NOT_INDEXED = "not indexed"
MAX_TRIES = 3
MAX_WAITS = 20
"""Tries of a page whose site says when to come back."""


@frozen
class Fetched:
    """What a source returns for a page: its document, or None if it did not change."""

    page: Page | None = None
    document: Document | None = None


Fetch = Callable[[PageTask], Awaitable[Fetched]]
"""Fetches one page; raises a leaf of `FetchError` or `ExtractError`."""


class Keeps(Protocol):
    """What the crawler needs of the library."""

    store: Store

    async def store_now(self, pages: Sequence[QueuedPage]) -> Container[str]: ...


@frozen
class CrawlLimits:
    """How many pages are in hand, and for how long."""

    fetchers: int = 8
    lease_s: float = 180.0
    batch_pages: int = 16
    batch_characters: int = 400_000
    poll_s: float = 0.25
    """Between two looks for pages that other workers hold, or that are not due yet."""
    retry_s: float = 5.0
    """Before the first retry of a page; doubled each time."""
    store_retry_s: float = 2.0
    store_tries: int = 30


def new_worker() -> str:
    """A name that tells whether a worker of this machine is still alive."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"


def is_dead(worker: str) -> bool:
    """Whether a worker was on this machine and its process has ended."""
    host, _, rest = worker.rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@dataclass(slots=True)
class _Result:
    task: PageTask
    queued: QueuedPage | None = None
    links: list[str] = field(default_factory=list)
    gone: bool = False
    """Whether the page is to leave the collection."""


class Crawler:
    """Crawls one collection until its queue is empty."""

    def __init__(
        self,
        library: Keeps,
        collection: Collection,
        fetch: Fetch,
        clock: Clock,
        scope: SiteScope | None = None,
        limits: CrawlLimits = CrawlLimits(),  # noqa: B008 - frozen
    ) -> None:
        """With a `scope`, the links of pages are followed."""
        self._library = library
        self._crawls = library.store.crawls
        self._collection = collection
        self._fetch = fetch
        self._clock = clock
        self._scope = scope
        self._limits = limits
        self._worker = new_worker()
        self._settled = 0
        self._total = 0
        self._renewed_at = clock.now()
        self._failure: KindlyError | None = None
        self.refused: Counter[str] = Counter()
        """What was left out, by reason."""

    async def run(self, progress: Progress) -> None:
        """Crawl.

        Raises:
            StoreUnavailable, ModelMismatch: the library cannot be used.
        """
        id_ = self._collection.id
        await self._take_over()
        status = await self._crawls.collection(id_)
        total = sum(status.tasks.values()) if status else 0
        self._settled = total - (status.left if status else 0)
        self._total = total
        try:
            await self._run_workers(progress)
        finally:
            with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
                await self._crawls.release(id_, self._worker)
        if self._failure is not None:
            raise self._failure

    async def _take_over(self) -> None:
        """Make the pages of workers available whose process on this machine has ended."""
        for worker in await self._crawls.workers(self._collection.id):
            if is_dead(worker):
                await self._crawls.release(self._collection.id, worker)

    async def _run_workers(self, progress: Progress) -> None:
        give, take = anyio.create_memory_object_stream[PageTask](0)
        results, ready = anyio.create_memory_object_stream[_Result](self._limits.batch_pages)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._store_results, ready, progress, tasks.cancel_scope)
            async with anyio.create_task_group() as fetchers:
                fetchers.start_soon(self._lease_pages, give)
                async with take, results:
                    for _ in range(self._limits.fetchers):
                        fetchers.start_soon(self._fetch_pages, take.clone(), results.clone())

    async def _lease_pages(self, give: MemoryObjectSendStream[PageTask]) -> None:
        """Hand out pages until none is left."""
        id_, limits = self._collection.id, self._limits
        async with give:
            while True:
                await self._renew_in_time()
                now = self._clock.now()
                until = now + timedelta(seconds=limits.lease_s)
                leased = await self._crawls.lease(id_, self._worker, limits.fetchers, now, until)
                for task in leased:
                    await give.send(task)
                if not leased:
                    status = await self._crawls.collection(id_)
                    if status is None or not status.left:
                        return
                    await self._take_over()
                    await self._clock.sleep(limits.poll_s)

    async def _renew_in_time(self) -> None:
        """Extend this worker's leases long before they end."""
        now = self._clock.now()
        if now - self._renewed_at > timedelta(seconds=self._limits.lease_s / 4):
            until = now + timedelta(seconds=self._limits.lease_s)
            await self._crawls.renew(self._collection.id, self._worker, until)
            self._renewed_at = now

    async def _fetch_pages(
        self,
        take: MemoryObjectReceiveStream[PageTask],
        results: MemoryObjectSendStream[_Result],
    ) -> None:
        async with take, results:
            async for task in take:
                await results.send(await self._result(task))

    async def _result(self, task: PageTask) -> _Result:
        """Fetch one page; a failure is a result, too."""
        try:
            fetched = await self._fetch(task)
        except (FetchError, ExtractError) as error:
            return self._failed(task, error)
        done = replace(task, state=TaskState.DONE, reason="", due_at=None, worker="")
        page, document = fetched.page, fetched.document
        if page is None or document is None:
            return _Result(done)
        if self._scope is not None and self._has_left(page):
            return _Result(replace(done, state=TaskState.FAILED, reason=OUT_OF_SCOPE), gone=True)
        if self._scope is not None and not self._scope.allows(urls.parse(task.url)):
            return _Result(done, links=await self._links(page, document, task.depth))
        if page.url == task.url:
            done = replace(done, etag=page.etag, last_modified=page.last_modified)
        queued = page_of_collection(task.url, document, page, self._collection.id)
        if queued is None:
            return _Result(replace(done, state=TaskState.FAILED, reason="may not be stored"))
        return _Result(done, queued, await self._links(page, document, task.depth))

    def _has_left(self, page: Page) -> bool:
        """Whether redirects led out of the collection. The first page is read for its links, whatever the globs say."""
        assert self._scope is not None  # noqa: S101 - the caller checked
        is_checked = page.url.startswith("http") and page.url != str(self._scope.start)
        return is_checked and self._scope.parsed(page.url) is None

    async def _links(self, page: Page, document: Document, depth: int) -> list[str]:
        if self._scope is None or self._collection.via != "links":
            return []
        found, beyond = await anyio.to_thread.run_sync(links_on, page, document)
        if beyond:
            self.refused[LeftOut.LINKS] += beyond
        return self._scope.linked(found, depth)

    def _failed(self, task: PageTask, error: KindlyError) -> _Result:
        """A failure that may pass is tried again later."""
        most = MAX_WAITS if error.retry_after_s else MAX_TRIES
        if error.kind in RETRYABLE and task.tries < most:
            wait_s = error.retry_after_s or self._limits.retry_s * 2 ** max(0, task.tries - 1)
            due_at = self._clock.now() + timedelta(seconds=wait_s)
            return _Result(replace(task, state=TaskState.PENDING, due_at=due_at, worker=""))
        failed = replace(
            task, state=TaskState.FAILED, reason=str(error.kind), due_at=None, worker=""
        )
        return _Result(failed, gone=isinstance(error, PageNotFound))

    async def _store_results(
        self,
        ready: MemoryObjectReceiveStream[_Result],
        progress: Progress,
        everything: anyio.CancelScope,
    ) -> None:
        """Store pages as they come, those that wait together, and then settle their rows."""
        async with ready:
            async for first in ready:
                batch = [first]
                size = _size(first)
                while len(batch) < self._limits.batch_pages:
                    try:
                        batch.append(ready.receive_nowait())
                    except (anyio.WouldBlock, anyio.EndOfStream):
                        break
                    size += _size(batch[-1])
                    if size > self._limits.batch_characters:
                        break
                try:
                    await self._renew_in_time()
                    batch = await self._store(batch)
                except (StoreUnavailable, ModelMismatch) as error:
                    self._failure = error
                    everything.cancel()
                    return
                self._settled += sum(one.task.state is not TaskState.PENDING for one in batch)
                message = f"{self._settled:,} of {self._total:,} pages"
                await progress(self._settled, self._total, message)

    async def _store(self, batch: Sequence[_Result]) -> list[_Result]:
        """Store a batch, and return what became of it; a store that fails is tried for a while."""
        tries = 1
        while True:
            try:
                return await self._store_once(batch)
            except StoreUnavailable:
                if tries == self._limits.store_tries:
                    raise
                tries += 1
                await self._clock.sleep(self._limits.store_retry_s)

    def _stored(self, result: _Result, left_out: Container[str]) -> _Result:
        """The result of a page; one that could not be indexed is tried again later."""
        task = result.task
        if result.queued is None or result.queued.entry.key not in left_out:
            return result
        if task.tries >= MAX_TRIES:
            return _Result(replace(task, state=TaskState.FAILED, reason=NOT_INDEXED))
        due_at = self._clock.now() + timedelta(seconds=self._limits.retry_s)
        pending = replace(task, state=TaskState.PENDING, due_at=due_at)
        return _Result(replace(pending, etag=None, last_modified=None))

    async def _store_once(self, batch: Sequence[_Result]) -> list[_Result]:
        id_ = self._collection.id
        queued = [one.queued for one in batch if one.queued is not None]
        left_out = await self._library.store_now(queued) if queued else ()
        results = [self._stored(one, left_out) for one in batch]
        for one in results:
            if one.gone:
                await self._library.store.forget(f"{one.task.url}#{id_}")
        links = {
            link: PageTask(link, one.task.depth + 1)
            for one in reversed(results)
            for link in reversed(one.links)
        }
        if links:
            most = self._collection.rules.max_pages
            added = await self._crawls.add(id_, list(reversed(links.values())), most)
            self._total += added.new
            if added.left_out:
                self.refused[LeftOut.PAGES] = max(self.refused[LeftOut.PAGES], added.left_out)
        await self._crawls.settle(id_, [one.task for one in results])
        return results


def _size(result: _Result) -> int:
    return result.queued.size if result.queued else 0
