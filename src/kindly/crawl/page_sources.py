"""Where the pages of a crawl come from: the web through the guarded chain, files, or one long text."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import anyio.to_thread

from kindly import urls
from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.crawl.crawler import Fetched
from kindly.crawl.files import FileTree
from kindly.crawl.llms_txt import FullPage
from kindly.errors import PageNotFound
from kindly.extract import ExtractOptions
from kindly.frozen import frozen
from kindly.models import Page
from kindly.page_loading import load
from kindly.read.crawls.collection import Crawls, PageTask
from kindly.stages import Stages
from kindly.urls import Url

PAGE_S = 90.0
"""For one page, waiting for its turn included."""
OPTIONS = ExtractOptions()


class FetchesChanges(Protocol):
    """A fetcher that can ask whether a page changed."""

    async def if_changed(self, url: Url, deadline: Deadline, known: Page) -> Page | None: ...


@frozen
class WebSource:
    """Pages of a site, with robots.txt, pacing and conditional requests."""

    stages: Stages
    fetcher: FetchesChanges
    clock: Clock
    interval_s: Callable[[Url], float]
    """Seconds between two requests to a host, among all servers; 0 if each server keeps its own pace."""
    crawls: Crawls | None = None
    """Where servers share their pace; None if there is only one."""
    refresh: bool = False

    async def fetch(self, task: PageTask) -> Fetched:
        """A page; without a document if the site says that it is unchanged."""
        url = urls.parse(task.url)
        await self._wait_for_turn(url)
        deadline = Deadline.after(PAGE_S)
        changed = None
        if task.etag or task.last_modified:
            changed = await self.fetcher.if_changed(url, deadline, self._known(task))
            if changed is None:
                return Fetched()
        page, document = await load(
            self.stages, url, OPTIONS, deadline, fetched=changed, force_refresh=self.refresh
        )
        return Fetched(page, document)

    def _known(self, task: PageTask) -> Page:
        empty = Page(task.url, task.url, 200, "", b"", self.clock.now())
        return replace(empty, etag=task.etag, last_modified=task.last_modified)

    async def _wait_for_turn(self, url: Url) -> None:
        interval_s = self.interval_s(url) if self.crawls is not None else 0.0
        if self.crawls is not None and interval_s:
            at = await self.crawls.reserve(url.netloc, self.clock.now(), interval_s)
            wait = (at - self.clock.now()) / timedelta(seconds=1)
            if wait > 0:
                await self.clock.sleep(wait)


@frozen
class TreeSource:
    """Files of a folder or a repository."""

    stages: Stages
    tree: FileTree
    clock: Clock

    async def fetch(self, task: PageTask) -> Fetched:
        """A file; without a document if its bytes are the same."""
        page = await anyio.to_thread.run_sync(self.tree.page, task.url, self.clock)
        if page.etag == task.etag:
            return Fetched()
        return Fetched(page, await self.stages.extract(page, OPTIONS, Deadline.after(PAGE_S)))


@frozen
class FullTextSource:
    """Pages of an `llms-full.txt`."""

    stages: Stages
    pages: Mapping[str, FullPage]
    clock: Clock

    async def fetch(self, task: PageTask) -> Fetched:
        """A page; without a document if its text is the same."""
        found = self.pages.get(task.url)
        if found is None:
            raise PageNotFound("The list does not have this page any more.", url=task.url)
        body = found.text.encode()
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if etag == task.etag:
            return Fetched()
        now = self.clock.now()
        page = Page(task.url, task.url, 200, "text/markdown", body, now, etag=etag, composed=True)
        return Fetched(page, await self.stages.extract(page, OPTIONS, Deadline.after(PAGE_S)))
