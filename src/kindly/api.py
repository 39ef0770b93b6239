"""The Python API: `async with kindly.open() as web`, then search, fetch, read and recall.

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
from kindly.crawl.indexer import Indexer
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
