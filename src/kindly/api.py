"""The engine for programs: `async with kindly.open() as web`, then search, fetch, read and recall.

The same stages as behind the tools, without MCP: values of `kindly.models` come out, leaves of `KindlyError` are
raised.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypedDict, Unpack

from kindly import pipeline
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.extract import ExtractOptions
from kindly.models import (
    Category,
    Document,
    Finding,
    Format,
    Hits,
    PageFindings,
    Query,
    SafeSearch,
    Source,
    TimeRange,
)
from kindly.settings import Settings
from kindly.stages import ignore_progress


class Filters(TypedDict, total=False):
    """What a search can be narrowed by."""

    site: str
    time_range: TimeRange
    language: str
    region: str
    safe_search: SafeSearch
    category: Category
    page: int


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search brought: the hits, and where pages were wanted, each hit with its page."""

    hits: Hits
    sources: tuple[Source, ...]


class Kindly:
    """The web, as far as the settings open it. One is enough for a program; its calls may run side by side."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def search(
        self, query: str, count: int = 3, *, pages: bool = True, **filters: Unpack[Filters]
    ) -> SearchResults:
        """Search, and read the pages found unless `pages` says not to.

        Raises:
            SearchError: no provider answered; a page that cannot be had is told in its source's outcome.
        """
        wanted = Query(text=query, count=count, **filters)
        hits, sources = await pipeline.search(
            self._app.stages, wanted, self._deadline(), ignore_progress, fetch_content=pages
        )
        return SearchResults(hits, sources)

    async def fetch(
        self,
        url: str,
        *,
        selector: str | None = None,
        format: Format = "markdown",
        force_refresh: bool = False,
    ) -> Document:
        """One page, whole.

        Raises:
            InputError: the address or the selector cannot be used.
            FetchError, ExtractError: it could not be had, or holds no text.
        """
        options = ExtractOptions(selector=selector, format=format)
        return await pipeline.fetch(
            self._app.stages, url, options, self._deadline(), force_refresh=force_refresh
        )

    async def read(
        self, url: str, *questions: str, limit: int = 8, force_refresh: bool = False
    ) -> PageFindings:
        """What one page says to some questions, one finding for each.

        Raises:
            InputError: the address cannot be used.
            FetchError, ExtractError: the page could not be had, or holds no text.
            ReadError: the library refuses.
        """
        return await pipeline.read(
            self._app.stages,
            url,
            questions,
            self._deadline(),
            limit=limit,
            force_refresh=force_refresh,
        )

    async def recall(self, *questions: str, limit: int = 8) -> tuple[Finding, ...]:
        """What all pages read so far say to some questions, without the network.

        Raises:
            ReadError: the library refuses.
        """
        return await pipeline.recall(self._app.stages, questions, limit=limit)

    def _deadline(self) -> Deadline:
        return Deadline.after(self._app.deadline_s)


@asynccontextmanager
async def open_web(settings: Settings | Mapping[str, str] | None = None) -> AsyncIterator[Kindly]:
    """The engine for as long as the block runs.

    `settings` are variables as in `docs/settings.md`, or ready-made; without them the environment and the settings
    file hold.

    Raises:
        SettingsError: a value is wrong or unknown.
    """
    ready = settings if isinstance(settings, Settings) else Settings.load(settings)
    failure: Exception | None = None
    async with open_app(ready) as app:
        try:
            yield Kindly(app)
        except Exception as error:  # noqa: BLE001 - raised again below, where no task group wraps it
            failure = error
    if failure is not None:
        raise failure
