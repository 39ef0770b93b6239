"""A result of any kind → text for the model, or data for programs."""

from typing import assert_never

from kindly.server.json_schema import Json
from kindly.server.render.findings import findings_data, findings_text
from kindly.server.render.page import page_data, page_text
from kindly.server.render.results import FindingsResult, PageResult, SearchResult
from kindly.server.render.search_results import search_data, search_text
from kindly.server.tool import Output

Result = SearchResult | PageResult | FindingsResult


def to_output(result: Result) -> Output:
    """The result as text and as structured content."""
    return Output(to_text(result), to_data(result))


def to_text(result: Result) -> str:
    """The result as Markdown for the model."""
    match result:
        case SearchResult():
            return search_text(result)
        case PageResult():
            return page_text(result)
        case FindingsResult():
            return findings_text(result)
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
        case _:
            assert_never(result)
