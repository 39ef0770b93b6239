"""The stages that the pipeline calls, as protocols, and `Stages`, which holds one of each.

The pipeline depends on these only, not on a particular provider, HTTP client, parser or store.
"""

import hashlib
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from functools import partial
from typing import Protocol

import anyio.to_thread

from kindly import urls
from kindly.budget import Deadline
from kindly.concurrency.deferred_work import DeferredWork
from kindly.errors import KindlyError, PageUnreachable, SearchError, StoreUnavailable
from kindly.extract import ExtractOptions
from kindly.fetch.browser.render_gain import RenderGain
from kindly.frozen import frozen
from kindly.models import (
    Document,
    Finding,
    Hits,
    Page,
    Passage,
    Query,
    RecallScope,
    Screenshot,
    Step,
)
from kindly.read.file_excerpts import KeepsFiles
from kindly.read.store import StoredPage
from kindly.redact import Redactor
from kindly.storage.lru import LruCache
from kindly.telemetry.trace import span
from kindly.urls import Url

RECENT_BYTES = 6_000_000
USED_PAGES = 200
LINK_BYTES = 600
"""What a link takes in memory, about."""


def held_bytes(document: Document) -> int:
    """What a document takes in memory, about."""
    return sys.getsizeof(document.text) + LINK_BYTES * len(document.links)


class Searches(Protocol):
    """Query → hits."""

    async def search(self, query: Query, deadline: Deadline) -> Hits: ...

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]: ...


class Fetches(Protocol):
    """URL → page."""

    def check(self, url: Url) -> None: ...

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page: ...

    async def cached(self, url: Url) -> Page | None: ...

    async def keep(self, page: Page) -> None: ...


class Renders(Protocol):
    """URL → page as a browser shows it."""

    async def render(self, url: Url, deadline: Deadline) -> Page: ...

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot: ...

    async def release(self) -> None: ...


class Extracts(Protocol):
    """Page → document."""

    async def extract(
        self, page: Page, options: ExtractOptions, deadline: Deadline
    ) -> Document: ...

    async def warm(self) -> None: ...


class Reads(KeepsFiles, Protocol):
    """Document + question → passages, from the library of read pages."""

    def lock(self, url: str) -> AbstractAsyncContextManager[None]: ...

    async def rank_and_keep(
        self, url: str, document: Document, page: Page, question: str, limit: int, /
    ) -> tuple[Passage, ...]: ...

    async def warm(self) -> None: ...

    async def ask(
        self, stored: StoredPage, questions: Sequence[str], limit: int, /
    ) -> tuple[Finding, ...]: ...

    async def similar(
        self, stored: StoredPage, questions: Sequence[str], limit: int, /
    ) -> tuple[Finding, ...]: ...

    async def recall(
        self, questions: Sequence[str], limit: int, scope: RecallScope = ..., /
    ) -> tuple[Finding, ...]: ...

    async def pages_about(
        self, question: str, site: str, limit: int, /
    ) -> tuple[tuple[StoredPage, tuple[Passage, ...]], ...]: ...


class Progress(Protocol):
    """Receives the progress of a call."""

    async def __call__(self, done: float, total: float, message: str) -> None: ...


async def ignore_progress(done: float, total: float, message: str) -> None:
    """A `Progress` without effect."""


@frozen
class Stages:
    """One object for each stage, and each stage's call as a traced step."""

    searcher: Searches
    fetcher: Fetches
    extractor: Extracts
    renderer: Renders | None = None
    """None if pages are never rendered; without a usable browser, one that says how to get it."""
    open_library: Callable[[], Awaitable[Reads]] | None = None
    """Opens the library at its first use."""
    render_gain: RenderGain = field(default_factory=RenderGain)
    """On which hosts rendering helped."""
    page_timeout_s: float = 30.0
    redactor: Redactor = field(default_factory=lambda: Redactor.of(()))
    """Masks the user's keys in what pages say, before it is cut or stored."""
    recent: LruCache[str, Document] = field(
        default_factory=lambda: LruCache(RECENT_BYTES, held_bytes)
    )
    """Documents that were returned last, by `cursor_key`: a cursor continues exactly the same text."""
    used: LruCache[str, str] = field(default_factory=lambda: LruCache(USED_PAGES))
    """The addresses of stored pages that were used last."""
    deferred: DeferredWork | None = None
    """What is done after an answer; None if nothing can be."""

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page:
        with span(Step.FETCH, host=url.host) as step:
            page = await self.fetcher.fetch(url, deadline, force_refresh=force_refresh)
            step.note(how=page.how, bytes=len(page.body))
        return page

    async def extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        with span(Step.EXTRACT, bytes=len(page.body)) as step:
            document = await self.extractor.extract(page, options, deadline)
            step.note(characters=len(document.text))
        if page.note:
            notes = " ".join(filter(None, (page.note, document.note)))
            document = replace(document, note=notes)
        masked = self.redactor.record(document)
        if masked.text is document.text:
            return masked
        text = masked.text.encode("utf-8", "surrogatepass")
        return replace(masked, content_hash=hashlib.sha256(text).hexdigest())

    async def needs_browser(
        self, page: Page | None, document: Document | None, failure: KindlyError | None
    ) -> bool:
        """Whether there is a renderer, and evidence that a browser shows more than was fetched."""
        return await self.browser_reason(page, document, failure) is not None

    async def browser_reason(
        self, page: Page | None, document: Document | None, failure: KindlyError | None
    ) -> str | None:
        """Why a browser may show more than was fetched; None without evidence or without a renderer.

        A page that needed a login is not rendered: the browser is not logged in.
        """
        if self.renderer is None or (page is not None and page.private):
            return None
        from kindly.fetch.browser.need import browser_reason, may_need_browser

        chars = len(document.text) if document else None
        if page is None or not may_need_browser(page, chars):
            return browser_reason(None, failure=failure)
        if document is not None and not self.render_gain.may_help(urls.parse(page.url).host):
            return None
        decide = partial(browser_reason, page, text_chars=chars, failure=failure)
        return await anyio.to_thread.run_sync(decide)

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """The page as a browser shows it.

        Raises:
            FetchError: there is no browser, or it failed.
        """
        renderer = self._renderer(url)
        with span(Step.RENDER, host=url.host) as step:
            page = await renderer.render(url, deadline)
            step.note(how=page.how, bytes=len(page.body))
        return page

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        """A picture of the page.

        Raises:
            FetchError: there is no browser, or it failed.
        """
        renderer = self._renderer(url)
        with span(Step.RENDER, host=url.host) as step:
            taken = await renderer.screenshot(url, deadline)
            step.note(bytes=len(taken.png))
        return taken

    def _renderer(self, url: Url) -> Renders:
        if self.renderer is None:
            raise PageUnreachable("There is no browser to render the page.", url=str(url))
        return self.renderer

    async def record_gain(self, url: Url, before: Document | None, after: Document | None) -> None:
        """Learn what rendering gained: the documents without a browser and with one, where there are any.

        A browser that showed nothing more, and that no other page uses, is closed.
        """
        sizes = (len(document.text) if document else 0 for document in (before, after))
        helped = self.render_gain.record(url.host, *sizes)
        if not helped and self.renderer is not None:
            await self.renderer.release()

    def use(self, url: str, page: Page | None = None) -> None:
        """Remember the use of a page that is stored; `page` is given where it was fetched, and may forbid that."""
        if page is None or page.may_be_stored:
            self.used.put(url, url)

    async def library(self) -> Reads:
        """The library of read pages.

        Raises:
            ReadError: there is none, or it cannot be opened.
        """
        if self.open_library is None:
            raise StoreUnavailable("This server has no library of read pages.")
        return await self.open_library()
