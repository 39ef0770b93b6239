import pytest

from kindly.extract.formats.pdf.pdf_title import name_of
from tests.support.html_pages import URL
from tests.support.pdf_files import PROSE, line, lines, read_pdf

TEXT = lines(PROSE * 3, y=560, size=10)
SECTION = line("5.1 Hyper Parameter Optimization", y=700, size=14)


def title_of(*parts: str, info: str = "") -> str:
    return read_pdf("\n".join((*parts, TEXT)), info=info).metadata.title


@pytest.mark.parametrize(
    ("parts", "title"),
    [
        ([lines(["On the tides", "of the north"], y=700, size=20)], "On the tides of the north"),
        (
            [line("Redpaper", y=760, size=14), line("On tides", y=700, size=22)],
            "On tides",
        ),
        ([line("Table 3. Tides", y=700, size=20)], name_of(URL)),
        ([SECTION], name_of(URL)),
        ([], name_of(URL)),
    ],
    ids=["two lines", "largest", "caption", "numbered section", "only text"],
)
def test_title_is_the_largest_text_at_the_top_of_the_first_page(
    parts: list[str], title: str
) -> None:
    assert title_of(*parts) == title


def test_title_of_the_metadata_comes_first() -> None:
    assert title_of(line("Cover", y=700, size=30), info="/Title (On Tides)") == "On Tides"


def test_heading_of_a_later_page_is_no_title() -> None:
    document = read_pdf(TEXT, "\n".join((line("Later", y=700, size=20), TEXT)))
    assert document.metadata.title == name_of(URL)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a/annual_report-2023.pdf", "annual report 2023"),
        ("/Tides%20of%20the+north.PDF", "Tides of the north"),
        ("/abs/2305.03393v1", "2305.03393v1"),
        ("/2021-03-04.pdf", "2021-03-04"),
        ("/download?id=7", ""),
        ("/", ""),
    ],
)
def test_file_name_is_readable(path: str, name: str) -> None:
    assert name_of(f"https://documents.example{path}") == name
