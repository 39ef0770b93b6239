"""The Python API: `async with kindly.open() as web`, then search, fetch, read, recall, index, changes and verify.

It runs the same pipeline as the MCP tools, without MCP. It returns values of `kindly.models` and raises leaves of
`KindlyError`.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TypedDict, Unpack

from kindly import pipeline
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.crawl import page_checks
from kindly.crawl.indexer import Indexer
from kindly.crawl.page_checks import ChangesReport, QuoteReport
from kindly.extract import ExtractOptions
from kindly.models import (
    Category,
    Document,
    Finding,
    Format,
    PageFindings,
    Query,
    RecallScope,
    SafeSearch,
    Screenshot,
    SearchResults,
    TimeRange,
)
from kindly.read.crawls.collection import CollectionStatus, CrawlRules
from kindly.settings import Settings
from kindly.stages import ignore_progress


class Filters(TypedDict, total=False):
    """The filters of a search."""

    site: str
    time_range: TimeRange
    language: str
    region: str
    safe_search: SafeSearch
    category: Category
    page: int
    include_domains: tuple[str, ...]
    exclude_domains: tuple[str, ...]
    published_after: str
    published_before: str


class Kindly:
    """The verbs of Kindly for one set of settings. A program needs one; its calls may run concurrently."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def search(
        self, query: str, count: int = 3, *, pages: bool = True, **filters: Unpack[Filters]
    ) -> SearchResults:
        """Search and, with `pages`, load the page of each hit.

        Raises:
            SearchError: no provider answered. A page that cannot be loaded is no error: its source has the outcome.
        """
        return await pipeline.search(
            self._app.stages,
            Query(text=query, count=count, **filters),
            self._deadline(),
            ignore_progress,
            fetch_content=pages,
        )

    async def fetch(
        self,
        url: str,
        *,
        selector: str | None = None,
        format: Format = "markdown",
        force_refresh: bool = False,
    ) -> Document:
        """The whole document at an address.

        Raises:
            InputError: the address or the selector is invalid.
            FetchError, ExtractError: the page cannot be fetched, or contains no text.
        """
        options = ExtractOptions(selector=selector, format=format)
        return await pipeline.fetch(
            self._app.stages, url, options, self._deadline(), force_refresh=force_refresh
        )

    async def screenshot(self, url: str) -> Screenshot:
        """A PNG of the page at an address, from its top; needs the extra `browser`.

        Raises:
            InputError: the address is invalid.
            FetchError: the page cannot be fetched, or there is no browser.
        """
        return await pipeline.screenshot(self._app.stages, url, self._deadline())

    async def read(
        self, url: str, *questions: str, limit: int = 8, force_refresh: bool = False
    ) -> PageFindings:
        """The passages of a page that answer some questions, one finding for each question.

        If nothing seems to answer, `answered` is false and the closest passages come. A short page comes whole.

        Raises:
            InputError: the address is invalid.
            FetchError, ExtractError: the page cannot be fetched, or contains no text.
            ReadError: the library cannot be used.
        """
        return await pipeline.read(
            self._app.stages,
            url,
            questions,
            self._deadline(),
            limit=limit,
            force_refresh=force_refresh,
        )

    async def recall(
        self,
        *questions: str,
        limit: int = 8,
        collection: str = "",
        site: str = "",
        since: datetime | None = None,
    ) -> tuple[Finding, ...]:
        """The passages of stored pages that answer some questions, or the closest; without the network.

        `collection` is a name, or `name@version`; `site` a domain; `since` when a page was fetched at the earliest.

        Raises:
            InputError: there is no such collection.
            ReadError: the library cannot be used.
        """
        scope = RecallScope(collection, site, since)
        return await pipeline.recall(self._app.stages, questions, limit=limit, scope=scope)

    async def index(
        self, origin: str, name: str = "", *, rules: CrawlRules | None = None, refresh: bool = False
    ) -> CollectionStatus:
        """Read a whole documentation into a collection, go on with it, or refresh it; returns when that is done.

        `origin` is what `kindly index` takes: an address, a package, a repository, a folder.

        Raises:
            InputError: the origin or the name is wrong.
            FetchError: the first page cannot be fetched.
            ReadError: the library cannot be used.
        """
        indexer = self._indexer()
        begun = await indexer.begin(origin, name, rules or CrawlRules(), allow_local=True)
        return await indexer.run(begun.collection.id, refresh=refresh)

    async def collections(self) -> list[CollectionStatus]:
        """All collections, by name and version.

        Raises:
            ReadError: the library cannot be used.
        """
        return await self._indexer().collections()

    async def changes(
        self, target: str, *, since: datetime | None = None, refresh: bool = False
    ) -> ChangesReport:
        """The sections of a stored page or a collection that changed since a date, or since the version before.

        With `refresh`, the page or the collection is asked for first.

        Raises:
            InputError: neither a stored page nor a collection has this name.
            FetchError, ExtractError: what is to be refreshed cannot be read.
            ReadError: the library cannot be used.
        """

        async def collection(id_: str) -> bool:
            await self._indexer().run(id_, refresh=True)
            return True

        stages = self._app.stages
        asked = page_checks.refresh_by(stages, self._deadline(), collection) if refresh else None
        return await page_checks.changes(await page_checks.library_of(stages), target, since, asked)

    async def verify(self, quote: str, url: str = "", *, refresh: bool = False) -> QuoteReport:
        """Whether a page says a quote: exactly, nearly, formerly or not; without `url`, any page of the library.

        Raises:
            InputError: the address is invalid.
            FetchError, ExtractError: a page that is not stored, or is to be refreshed, cannot be read.
            ReadError: the library cannot be used.
        """
        stages = self._app.stages
        library = await page_checks.library_of(stages)
        return await page_checks.verify(
            stages, library, quote, url, self._deadline(), refresh=refresh
        )

    def _indexer(self) -> Indexer:
        assert self._app.open_indexer is not None  # noqa: S101 - `open_app` gives one
        return self._app.open_indexer()

    def _deadline(self) -> Deadline:
        return Deadline.after(self._app.deadline_s)


@asynccontextmanager
async def open_kindly(
    settings: Settings | Mapping[str, str] | None = None,
) -> AsyncIterator[Kindly]:
    """The verbs for the duration of the block.

    `settings` are the variables of `docs/settings.md`, or a `Settings`; without them, the environment and the settings
    file apply.

    Raises:
        SettingsError: a value is wrong or unknown.
    """
    loaded = settings if isinstance(settings, Settings) else Settings.load(settings)
    failure: Exception | None = None
    async with open_app(loaded) as app:
        try:
            yield Kindly(app)
        except Exception as error:  # noqa: BLE001 - raised again below, outside the task group that would wrap it
            failure = error
    if failure is not None:
        raise failure
