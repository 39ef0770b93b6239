"""A result of any kind → text for the model, or data for programs."""

from collections.abc import Sequence
from typing import assert_never

from kindly.server.json_schema import Json
from kindly.server.render.findings import findings_data, findings_text
from kindly.server.render.findings_batch import batch_data, batch_text
from kindly.server.render.page import page_data, page_text
from kindly.server.render.page_batch import pages_data, pages_text
from kindly.server.render.results import (
    FindingsBatch,
    FindingsResult,
    FoundPage,
    PageResult,
    PagesResult,
    SearchesResult,
    SearchResult,
)
from kindly.server.render.search_batch import searches_data, searches_text
from kindly.server.render.search_results import search_data, search_text
from kindly.server.tool import Output, ShownPage

Result = SearchResult | PageResult | FindingsResult | SearchesResult | PagesResult | FindingsBatch


def to_output(result: Result) -> Output:
    """The result as text and as structured content."""
    return Output(to_text(result), to_data(result), pages=tuple(dict.fromkeys(_pages(result))))


def _pages(result: Result) -> list[ShownPage]:
    """The pages that the result has text of, the first ones first."""
    match result:
        case SearchResult():
            return _found(result.pages)
        case SearchesResult():
            return _found([page for part in result.parts for page in part.pages])
        case PageResult():
            return [ShownPage(result.url, result.title or "")] if result.outcome.ok else []
        case PagesResult():
            return [page for one in result.pages for page in _pages(one)]
        case FindingsResult():
            return _read(result)
        case FindingsBatch():
            read = (one for one in result.pages if isinstance(one, FindingsResult))
            return [page for one in read for page in _read(one)]
        case _:
            assert_never(result)


def _found(pages: Sequence[FoundPage]) -> list[ShownPage]:
    return [ShownPage(page.link, page.title) for page in pages if page.outcome.ok]


def _read(result: FindingsResult) -> list[ShownPage]:
    passages = (passage for finding in result.findings for passage in finding.passages)
    pages = (result.page, *(passage.page for passage in passages))
    return [ShownPage(page.url, page.title) for page in pages if page is not None]


def to_text(result: Result) -> str:
    """The result as Markdown for the model."""
    match result:
        case SearchResult():
            return search_text(result)
        case PageResult():
            return page_text(result)
        case FindingsResult():
            return findings_text(result)
        case SearchesResult():
            return searches_text(result)
        case PagesResult():
            return pages_text(result)
        case FindingsBatch():
            return batch_text(result)
        case _:
            assert_never(result)


def to_data(result: Result) -> Json:
    """The result as structured content."""
    match result:
        case SearchResult():
            return search_data(result)
        case PageResult():
            return page_data(result)
        case FindingsResult():
            return findings_data(result)
        case SearchesResult():
            return searches_data(result)
        case PagesResult():
            return pages_data(result)
        case FindingsBatch():
            return batch_data(result)
        case _:
            assert_never(result)
