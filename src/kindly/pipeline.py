"""The whole story: a question becomes hits, a hit a page, a page a document, documents an answer's sources.

One function per verb. The stages are handed in; nothing here knows which provider, client or parser is behind them.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import anyio

from kindly import urls
from kindly.answer import parse_cursor
from kindly.budget import Deadline
from kindly.errors import (
    CursorExpired,
    ExtractError,
    FetchError,
    InputError,
    KindlyError,
    NeedsBrowser,
    NoContent,
    PageWalled,
    SearchError,
)
from kindly.extract.options import ExtractOptions
from kindly.models import Document, Hit, Hits, Outcome, Page, Query, Source
from kindly.urls import Url

SHELF_CHARACTERS = 32_000_000
MARGIN_S = 1.0
"""What is kept back from a deadline to lay out what was found until then."""


class Searches(Protocol):
    """Query → hits."""

    async def search(self, query: Query, deadline: Deadline) -> Hits: ...

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]: ...


class Fetches(Protocol):
    """URL → page."""

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page: ...

    async def cached(self, url: Url) -> Page | None: ...

    async def keep(self, page: Page) -> None: ...


class Renders(Protocol):
    """URL → page as a browser shows it."""

    async def render(self, url: Url, deadline: Deadline) -> Page: ...


class Extracts(Protocol):
    """Page → document."""

    async def extract(
        self, page: Page, options: ExtractOptions, deadline: Deadline
    ) -> Document: ...

    async def warm(self) -> None: ...


class Progress(Protocol):
    """Told how far a call has come."""

    async def __call__(self, done: float, total: float, message: str) -> None: ...


@dataclass(slots=True)
class Shelf:
    """Documents that were lately shown, so that a cursor continues the very same text."""

    capacity: int = SHELF_CHARACTERS
    _documents: OrderedDict[str, Document] = field(default_factory=OrderedDict)
    _size: int = 0

    def put(self, document: Document) -> None:
        """Keep a document, and let the longest unused ones go."""
        key = document.content_hash[:12]
        if key in self._documents:
            self._documents.move_to_end(key)
            return
        self._documents[key] = document
        self._size += len(document.text)
        while self._size > self.capacity and len(self._documents) > 1:
            _, oldest = self._documents.popitem(last=False)
            self._size -= len(oldest.text)

    def get(self, key: str) -> Document | None:
        """The document of that name, if it is still here."""
        if key in self._documents:
            self._documents.move_to_end(key)
        return self._documents.get(key)


@dataclass(frozen=True, slots=True)
class Stages:
    """What turns one value into the next."""

    searcher: Searches
    fetcher: Fetches
    extractor: Extracts
    renderer: Renders | None = None
    page_timeout_s: float = 30.0
    shelf: Shelf = field(default_factory=Shelf)


async def search(
    stages: Stages, query: Query, deadline: Deadline, progress: Progress
) -> tuple[Hits, tuple[Source, ...]]:
    """Hits for a query, each with its page read as far as that succeeded before the deadline."""
    await stages.extractor.warm()
    hits = await stages.searcher.search(query, deadline)
    total = len(hits.hits) + 1
    await progress(1, total, f"{hits.provider}: {len(hits.hits)} results")
    reading_until = Deadline(deadline.at - MARGIN_S, deadline.clock)
    sources: list[Source | None] = [None] * len(hits.hits)

    async def read(index: int, hit: Hit) -> None:
        sources[index] = await _source(stages, hit, reading_until)
        done = sum(source is not None for source in sources)
        await progress(1 + done, total, f"{done} of {len(sources)} pages")

    async with anyio.create_task_group() as tasks:
        for index, hit in enumerate(hits.hits):
            tasks.start_soon(read, index, hit)
    return hits, tuple(source for source in sources if source is not None)


async def _source(stages: Stages, hit: Hit, deadline: Deadline) -> Source:
    """A hit with its document, or with the outcome that stands in its place."""
    try:
        document = await fetch(stages, hit.url, ExtractOptions(), deadline)
    except KindlyError as error:
        return Source(hit.url, outcome_of(error), hit)
    return Source(hit.url, Outcome(), hit, document)


async def fetch(
    stages: Stages,
    raw_url: str,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    force_refresh: bool = False,
) -> Document:
    """The document at an address.

    Raises:
        InputError: the address is not one that can be fetched.
        FetchError, ExtractError: it could not be had, or holds no text.
    """
    url = urls.parse(raw_url)
    await stages.extractor.warm()
    until = deadline.within(stages.page_timeout_s)
    page = await stages.fetcher.fetch(url, until, force_refresh=force_refresh)
    document = await _read(stages, page, options, until)
    stages.shelf.put(document)
    return document


async def _read(
    stages: Stages, page: Page, options: ExtractOptions, deadline: Deadline
) -> Document:
    """A page's document: as it came, or as a browser shows it where there is evidence that it shows more."""
    document, failure = None, None
    try:
        document = await stages.extractor.extract(page, options, deadline)
    except (NoContent, PageWalled) as error:
        failure = error
    if stages.renderer is not None and _is_worth_rendering(page, document, failure):
        try:
            rendered = await stages.renderer.render(urls.parse(page.url), deadline)
            shown = await stages.extractor.extract(rendered, options, deadline)
        except (FetchError, ExtractError):
            shown = None
        if shown is not None and (document is None or len(shown.text) > len(document.text)):
            await stages.fetcher.keep(replace(rendered, requested_url=page.requested_url))
            return shown
    if document is None:
        raise failure or NoContent("The page has no readable text.", url=page.url)
    return document


def _is_worth_rendering(
    page: Page, document: Document | None, failure: ExtractError | None
) -> bool:
    if isinstance(failure, NeedsBrowser):
        return True
    from kindly.fetch.need import needs_browser

    return needs_browser(page, len(document.text) if document else None) is not None


async def open_page(
    stages: Stages,
    raw_url: str,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    cursor: str | None = None,
    force_refresh: bool = False,
) -> tuple[Document, int]:
    """The document at an address and where to begin: at its start, or where a cursor points.

    Raises:
        InputError, FetchError, ExtractError: as `fetch` and `resume` do.
    """
    if cursor:
        return await resume(stages, raw_url, options, cursor, deadline)
    return await fetch(stages, raw_url, options, deadline, force_refresh=force_refresh), 0


async def resume(
    stages: Stages, raw_url: str, options: ExtractOptions, cursor: str, deadline: Deadline
) -> tuple[Document, int]:
    """The document that a cursor belongs to, and where to go on; nothing is downloaded.

    Raises:
        InputError: the cursor is not one that was given out.
        CursorExpired: its document is kept no longer.
    """
    key, position = parse_cursor(cursor)
    document = stages.shelf.get(key)
    if document is None:
        page = await stages.fetcher.cached(urls.parse(raw_url))
        if page is not None:
            document = await stages.extractor.extract(page, options, deadline)
    if document is None or not document.content_hash.startswith(key):
        raise CursorExpired(
            "The page behind this cursor is no longer kept: call again without cursor.",
            field="cursor",
        )
    if position > len(document.text):
        raise InputError("cursor points past the end of the page.", field="cursor")
    stages.shelf.put(document)
    return document, position


def outcome_of(error: KindlyError) -> Outcome:
    """What a caller is told of an error."""
    return Outcome(error.outcome, error.detail, error.retry_after_s)


async def silent(done: float, total: float, message: str) -> None:
    """Progress that nobody watches."""
