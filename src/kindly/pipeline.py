"""The whole story: a question becomes hits, a hit a page, a page a document, documents an answer's sources.

One function per verb. The stages are handed in; nothing here knows which provider, client or parser is behind them.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread

from kindly import urls
from kindly.answer import parse_cursor
from kindly.budget import Deadline, count_tokens
from kindly.errors import (
    CursorExpired,
    ExtractError,
    FetchError,
    InputError,
    KindlyError,
    NoContent,
    PageChallenged,
    PageWalled,
    ReadError,
    SearchError,
    StoreUnavailable,
)
from kindly.extract import ExtractOptions
from kindly.models import (
    Document,
    FetchMethod,
    Finding,
    Hit,
    Hits,
    How,
    Outcome,
    Page,
    PageFindings,
    Passage,
    Query,
    Source,
)
from kindly.read.store import StoredPage
from kindly.telemetry.trace import span
from kindly.urls import Url

RECENT_CHARACTERS = 8_000_000
LINK_CHARACTERS = 300
"""What a link weighs beside a document's text."""
RANKED_TOKENS = 1_500
"""A page found by a search that is no longer than this is shown as it is."""
RANKED_PASSAGES = 40
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

    def check(self, url: Url) -> None: ...

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


class Reads(Protocol):
    """Document + question → passages, and the library of all pages read."""

    async def fresh(self, url: str) -> StoredPage | None: ...

    def alone(self, url: str) -> AbstractAsyncContextManager[None]: ...

    async def keep(
        self, url: str, document: Document, page: Page | None = None
    ) -> tuple[StoredPage, str]: ...

    async def ask(
        self, shelf: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]: ...

    async def recall(self, questions: Sequence[str], limit: int) -> tuple[Finding, ...]: ...

    async def ranked(self, shelf: StoredPage, question: str, limit: int) -> tuple[Passage, ...]: ...


class Progress(Protocol):
    """Told how far a call has come."""

    async def __call__(self, done: float, total: float, message: str) -> None: ...


@dataclass(slots=True)
class Recent:
    """Documents that were lately shown, so that a cursor continues the very same text."""

    capacity: int = RECENT_CHARACTERS
    _documents: OrderedDict[str, Document] = field(default_factory=OrderedDict)
    _size: int = 0

    def put(self, document: Document) -> None:
        """Keep a document, and let the longest unused ones go."""
        key = document.content_hash[:12]
        if key in self._documents:
            self._documents.move_to_end(key)
            return
        self._documents[key] = document
        self._size += _weight(document)
        while self._size > self.capacity and len(self._documents) > 1:
            _, oldest = self._documents.popitem(last=False)
            self._size -= _weight(oldest)

    def get(self, key: str) -> Document | None:
        """The document of that name, if it is still here."""
        if key in self._documents:
            self._documents.move_to_end(key)
        return self._documents.get(key)


def _weight(document: Document) -> int:
    return len(document.text) + LINK_CHARACTERS * len(document.links)


OpenReader = Callable[[], Awaitable[Reads]]


@dataclass(frozen=True, slots=True)
class Stages:
    """What turns one value into the next."""

    searcher: Searches
    fetcher: Fetches
    extractor: Extracts
    renderer: Renders | None = None
    reader: OpenReader | None = None
    """Opens the library when it is first wanted."""
    page_timeout_s: float = 30.0
    recent: Recent = field(default_factory=Recent)


async def search(
    stages: Stages,
    query: Query,
    deadline: Deadline,
    progress: Progress,
    *,
    fetch_content: bool = True,
) -> tuple[Hits, tuple[Source, ...]]:
    """Hits for a query, each with its page read as far as that succeeded before the deadline.

    Without `fetch_content` no page is asked for, and there are no sources.
    """
    if fetch_content:
        await stages.extractor.warm()
    hits = await stages.searcher.search(query, deadline)
    total = 1 + (len(hits.hits) if fetch_content else 0)
    await progress(1, total, f"{hits.provider}: {len(hits.hits)} results")
    if not fetch_content:
        return hits, ()
    reading_until = _before(deadline)
    sources: list[Source | None] = [None] * len(hits.hits)

    async def read(index: int, hit: Hit) -> None:
        sources[index] = await _source(stages, hit, query, reading_until)
        done = sum(source is not None for source in sources)
        await progress(1 + done, total, f"{done} of {len(sources)} pages")

    async with anyio.create_task_group() as tasks:
        for index, hit in enumerate(hits.hits):
            tasks.start_soon(read, index, hit)
    return hits, tuple(source for source in sources if source is not None)


async def _source(stages: Stages, hit: Hit, query: Query, deadline: Deadline) -> Source:
    """A hit with its document, or with the outcome that stands in its place."""
    began = anyio.current_time()
    try:
        page, document = await _load(stages, urls.parse(hit.url), ExtractOptions(), deadline)
    except KindlyError as error:
        return Source(hit.url, error.outcome, hit, took_ms=_since_ms(began))
    took_ms = _since_ms(began)
    passages = await _remember(stages, page, document, deadline, query)
    return Source(hit.url, Outcome(), hit, document, passages, took_ms)


def _since_ms(began: float) -> int:
    return round((anyio.current_time() - began) * 1000)


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
    page, document = await _load(stages, url, options, deadline, force_refresh=force_refresh)
    if options.selector is None and options.format == "markdown":
        await _remember(stages, page, document, _before(deadline))
    return document


async def _load(
    stages: Stages,
    url: Url,
    options: ExtractOptions,
    deadline: Deadline,
    *,
    force_refresh: bool = False,
) -> tuple[Page, Document]:
    """A page and what can be read in it."""
    await stages.extractor.warm()
    until = deadline.within(stages.page_timeout_s)
    try:
        page = await _fetch(stages, url, until, force_refresh=force_refresh)
        document = await _read(stages, page, options, until)
    except PageChallenged as refusal:
        page, document = await _past_the_check(stages, url, options, until, refusal)
    stages.recent.put(document)
    return page, document


async def _fetch(stages: Stages, url: Url, deadline: Deadline, *, force_refresh: bool) -> Page:
    with span("fetch", host=url.host) as step:
        page = await stages.fetcher.fetch(url, deadline, force_refresh=force_refresh)
        step.note(how=str(page.how), bytes=len(page.body))
    return page


async def _render(renderer: Renders, url: Url, deadline: Deadline) -> Page:
    with span("render", host=url.host) as step:
        page = await renderer.render(url, deadline)
        step.note(how=str(page.how), bytes=len(page.body))
    return page


async def _extract(
    stages: Stages, page: Page, options: ExtractOptions, deadline: Deadline
) -> Document:
    with span("extract", bytes=len(page.body)) as step:
        document = await stages.extractor.extract(page, options, deadline)
        step.note(characters=len(document.text))
    return document


async def _past_the_check(
    stages: Stages, url: Url, options: ExtractOptions, deadline: Deadline, refusal: PageChallenged
) -> tuple[Page, Document]:
    """The page as a browser gets it where HTTP met a bot check; the refusal itself where that fails too."""
    from kindly.fetch.browser.need import browser_reason

    if stages.renderer is None or browser_reason(None, failure=refusal) is None:
        raise refusal
    try:
        page = await _render(stages.renderer, url, deadline)
        return page, await _extract(stages, page, options, deadline)
    except (FetchError, ExtractError):
        raise refusal from None


def _before(deadline: Deadline) -> Deadline:
    """The deadline for what is done before the answer is laid out."""
    return Deadline(deadline.at - MARGIN_S, deadline.clock)


async def _remember(
    stages: Stages, page: Page, document: Document, deadline: Deadline, query: Query | None = None
) -> tuple[Passage, ...]:
    """Keep a page in the library; where it is long and there is a query, its passages by how much the query needs them.

    A library that fails, or is too slow, takes nothing from the answer.
    """
    if stages.reader is None:
        return ()
    with suppress(ReadError), anyio.move_on_after(deadline.remaining_s()):
        reader = await stages.reader()
        with span("read"):
            shelf, _ = await reader.keep(page.requested_url, document, page)
            if query is not None and count_tokens(document.text) >= RANKED_TOKENS:
                return await reader.ranked(shelf, query.text, RANKED_PASSAGES)
    return ()


async def read(
    stages: Stages,
    raw_url: str,
    questions: Sequence[str],
    deadline: Deadline,
    *,
    limit: int = 8,
    force_refresh: bool = False,
) -> PageFindings:
    """What the page at an address says to each question.

    Raises:
        InputError: the address is not one that can be fetched.
        FetchError, ExtractError: it could not be had, or holds no text.
        ReadError: the library refuses.
    """
    url = urls.parse(raw_url)
    stages.fetcher.check(url)
    reader = await _reader(stages)
    how, note = How(FetchMethod.LIBRARY), ""
    shelf = None if force_refresh else await reader.fresh(str(url))
    if shelf is None:
        async with reader.alone(str(url)):
            shelf = None if force_refresh else await reader.fresh(str(url))
            if shelf is None:
                page, document = await _load(
                    stages, url, ExtractOptions(), deadline, force_refresh=force_refresh
                )
                shelf, note = await reader.keep(str(url), document, page)
                how = document.how
    with span("read", questions=len(questions)) as step:
        findings = await reader.ask(shelf, questions, limit)
        step.note(passages=sum(len(finding.citations) for finding in findings))
    return PageFindings(shelf.entry, findings, how, note)


async def recall(
    stages: Stages, questions: Sequence[str], *, limit: int = 8
) -> tuple[Finding, ...]:
    """What all pages read so far say to each question; nothing is downloaded.

    Raises:
        ReadError: the library cannot be reached, or refuses.
    """
    reader = await _reader(stages)
    with span("read", questions=len(questions)) as step:
        findings = await reader.recall(questions, limit)
        step.note(passages=sum(len(finding.citations) for finding in findings))
    return findings


async def _reader(stages: Stages) -> Reads:
    if stages.reader is None:
        raise StoreUnavailable("Reading is not set up in this server.")
    return await stages.reader()


async def _read(
    stages: Stages, page: Page, options: ExtractOptions, deadline: Deadline
) -> Document:
    """A page's document: as it came, or as a browser shows it where there is evidence that it shows more."""
    document, failure = None, None
    try:
        document = await _extract(stages, page, options, deadline)
    except (NoContent, PageWalled) as error:
        failure = error
    if stages.renderer is not None and await _is_worth_rendering(page, document, failure):
        try:
            rendered = await _render(stages.renderer, urls.parse(page.url), deadline)
            shown = await _extract(stages, rendered, options, deadline)
        except (FetchError, ExtractError):
            shown = None
        if shown is not None and (document is None or len(shown.text) > len(document.text)):
            await stages.fetcher.keep(replace(rendered, requested_url=page.requested_url))
            return shown
    if document is None:
        raise failure or NoContent("The page has no readable text.", url=page.url)
    return document


async def _is_worth_rendering(
    page: Page, document: Document | None, failure: ExtractError | None
) -> bool:
    from kindly.fetch.browser.need import browser_reason, may_need_browser

    chars = len(document.text) if document else None
    if not may_need_browser(page, chars):
        return browser_reason(None, failure=failure) is not None
    decide = partial(browser_reason, page, text_chars=chars, failure=failure)
    return await anyio.to_thread.run_sync(decide) is not None


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
    document = stages.recent.get(key)
    if document is None:
        page = await stages.fetcher.cached(urls.parse(raw_url))
        if page is not None:
            document = await _extract(stages, page, options, deadline)
    if document is None or not document.content_hash.startswith(key):
        raise CursorExpired(
            "The page behind this cursor is no longer kept: call again without cursor.",
            field="cursor",
        )
    if position > len(document.text):
        raise InputError("cursor points past the end of the page.", field="cursor")
    stages.recent.put(document)
    return document, position


async def silent(done: float, total: float, message: str) -> None:
    """Progress that nobody watches."""
