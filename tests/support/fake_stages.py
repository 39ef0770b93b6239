"""Stages without network, processes or files, for tests of the pipeline."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256

import anyio

from kindly.budget import Deadline
from kindly.errors import AddressRefused, KindlyError, PageNotFound, SearchError
from kindly.extract import ExtractOptions
from kindly.models import (
    Citation,
    Document,
    FetchMethod,
    Finding,
    Hit,
    Hits,
    How,
    Page,
    Passage,
    Query,
    RecallScope,
    Screenshot,
    StoredPageInfo,
)
from kindly.read.store import StoredPage
from kindly.urls import Url

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def page(url: str, text: str, *, how: How | None = None) -> Page:
    """An HTML page; its text is its body."""
    return Page(url, url, 200, "text/html", text.encode(), NOON, how=how or How())


def document(page: Page) -> Document:
    """What `FakeExtractor` makes of a page: its body, unchanged."""
    text = page.body.decode()
    digest = sha256(page.body).hexdigest()
    return Document(page.url, text, page.fetched_at, how=page.how, content_hash=digest)


@dataclass
class FakeSearcher:
    """Finds the same addresses for every query."""

    urls: Sequence[str] = ()

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        hits = tuple(Hit(url, url, "A snippet.", "fake") for url in self.urls)
        return Hits(query, hits, "fake")

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        return [await self.search(query, deadline) for query in queries]


@dataclass
class FakeFetcher:
    """Serves pages from a table; an error in the table is raised."""

    table: dict[str, str | KindlyError] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()
    fetched: list[str] = field(default_factory=list)
    kept: list[Page] = field(default_factory=list)
    cache: dict[str, Page] = field(default_factory=dict)

    def check(self, url: Url) -> None:
        if url.host in self.refused:
            raise AddressRefused("Refused.", url=str(url))

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page:
        self.fetched.append(str(url))
        served = self.table.get(str(url))
        if served is None:
            raise PageNotFound("There is no such page.", url=str(url), status=404)
        if isinstance(served, KindlyError):
            raise served
        return page(str(url), served)

    async def cached(self, url: Url) -> Page | None:
        return self.cache.get(str(url))

    async def keep(self, page: Page) -> None:
        self.kept.append(page)


@dataclass
class FakeRenderer:
    """Renders pages from a table; an error in the table is raised."""

    table: dict[str, str | KindlyError] = field(default_factory=dict)
    rendered: list[str] = field(default_factory=list)
    releases: int = 0

    async def release(self) -> None:
        self.releases += 1

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        shown = await self.render(url, deadline)
        return Screenshot(shown.url, shown.body, 1280, 640, 900, shown.fetched_at)

    async def render(self, url: Url, deadline: Deadline) -> Page:
        self.rendered.append(str(url))
        shown = self.table.get(str(url), "")
        if isinstance(shown, KindlyError):
            raise shown
        return page(str(url), shown, how=How(FetchMethod.BROWSER))


@dataclass
class FakeExtractor:
    """The page's body as text; a page whose body is in the table raises that error."""

    failures: dict[str, KindlyError] = field(default_factory=dict)
    warmed: int = 0

    async def extract(self, page: Page, options: ExtractOptions, deadline: Deadline) -> Document:
        failure = self.failures.get(page.body.decode())
        if failure is not None:
            raise failure
        return document(page)

    async def warm(self) -> None:
        self.warmed += 1


@dataclass
class FakeLibrary:
    """Keeps pages in a dictionary; `delay_s` and `failure` apply to `keep`."""

    delay_s: float = 0.0
    failure: KindlyError | None = None
    pages: dict[str, StoredPage] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    held: anyio.Lock = field(default_factory=anyio.Lock)

    async def fresh(self, url: str) -> StoredPage | None:
        return self.pages.get(url)

    @asynccontextmanager
    async def lock(self, url: str) -> AsyncIterator[None]:
        async with self.held:
            yield

    async def keep(
        self, url: str, document: Document, page: Page | None = None
    ) -> tuple[StoredPage, str]:
        await anyio.sleep(self.delay_s)
        if self.failure is not None:
            raise self.failure
        info = StoredPageInfo(url, url, NOON, document.content_hash, len(document.text))
        self.pages[url] = StoredPage(replace(info, how=document.how), (), None)
        self.texts[url] = document.text
        return self.pages[url], ""

    async def hold(self, url: str, document: Document, page: Page) -> tuple[StoredPage, str]:
        info = StoredPageInfo(url, url, NOON, document.content_hash, len(document.text))
        self.texts[url] = document.text
        return StoredPage(info, (), None), ""

    def may_keep(self, page: Page) -> bool:
        return not page.private

    async def keep_later(self, url: str, document: Document, page: Page | None = None) -> str:
        _, note = await self.keep(url, document, page)
        return note

    async def rank_and_keep(
        self, url: str, document: Document, page: Page, question: str, limit: int
    ) -> tuple[Passage, ...]:
        stored, _ = await self.keep(url, document, page)
        return tuple(one.passage for one in self._citations(stored, limit))

    async def warm(self) -> None:
        pass

    async def ask(
        self, stored: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        return tuple(Finding(question, self._citations(stored, limit)) for question in questions)

    similar = ask

    async def pages_about(
        self, question: str, site: str, limit: int
    ) -> tuple[tuple[StoredPage, tuple[Passage, ...]], ...]:
        return ()

    async def recall(
        self,
        questions: Sequence[str],
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> tuple[Finding, ...]:
        citations = tuple(
            one for stored in self.pages.values() for one in self._citations(stored, limit)
        )
        return tuple(Finding(question, citations[:limit]) for question in questions)

    def _citations(self, stored: StoredPage, limit: int) -> tuple[Citation, ...]:
        text = self.texts[stored.entry.url]
        passage = Passage(text[:10], 0, min(10, len(text)), len(text))
        return (Citation(stored.entry, passage),)[:limit]
