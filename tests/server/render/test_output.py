"""Every kind of result has a text and data."""

import pytest

from kindly.models import Outcome
from kindly.server.render.output import Result, to_data, to_output, to_text
from kindly.server.render.results import FindingResult, FindingsResult, PageResult, SearchResult


@pytest.mark.parametrize(
    ("result", "text", "data"),
    [
        (
            SearchResult("tea", "serper", 0, ()),
            "No results for 'tea' (serper). Try other or fewer words.",
            {"results": []},
        ),
        (
            PageResult("https://example.com/", "Tea.", Outcome()),
            "# https://example.com/\n\n\nTea.",
            {"url": "https://example.com/", "page_content": "Tea.", "status": "ok"},
        ),
        (
            FindingsResult((FindingResult("Why?", False, (), "No."),)),
            "## Why?\n\nNo.",
            {"findings": [{"question": "Why?", "answered": False, "passages": [], "note": "No."}]},
        ),
    ],
    ids=["search", "page", "findings"],
)
def test_a_result_as_text_and_as_data(result: Result, text: str, data: object) -> None:
    assert to_text(result) == text
    assert to_data(result) == data
    output = to_output(result)
    assert (output.text, output.structured, output.failed) == (text, data, False)
