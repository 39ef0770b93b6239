import pytest

from kindly.extract.formats.archive import Archive
from kindly.extract.formats.workbook import truncated_workbook
from kindly.extract.formats.workbook_links import CellLinks, links_of_sheets
from tests.support.html_pages import URL
from tests.support.zip_files import row, xlsx


def links_of(links: dict[str, dict[str, str]]) -> dict[str, CellLinks]:
    body = xlsx({"One": row(1, "a", "b"), "Two &amp; more": row(1, "c")}, links=links)
    archive = Archive(body, url=URL, media_type="application/x")
    return links_of_sheets(archive, truncated_workbook(archive).links)


def test_links_are_by_sheet_row_and_column() -> None:
    assert links_of(
        {
            "One": {"A1": "https://a.example/", "B12:C13": "https://b.example/?x=1&amp;y"},
            "Two &amp; more": {"AA7": "http://c.example/"},
        }
    ) == {
        "One": {(0, 0): "https://a.example/", (11, 1): "https://b.example/?x=1&y"},
        "Two & more": {(6, 26): "http://c.example/"},
    }


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("A1", "mailto:a@b.example"),
        ("A1", "javascript:alert(1)"),
        ("nowhere", "https://a.example/"),
    ],
)
def test_other_links_are_left_out(place: str, address: str) -> None:
    assert links_of({"One": {place: address}}) == {"One": {}}


def test_workbook_without_links_has_none() -> None:
    assert links_of({}) == {}
