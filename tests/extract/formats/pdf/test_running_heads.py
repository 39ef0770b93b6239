import pytest

from kindly.extract.formats.pdf.pdf_lines import Line
from kindly.extract.formats.pdf.pdf_words import Word
from kindly.extract.formats.pdf.running_heads import is_margin_stamp, running_lines
from tests.support.pdf_parts import PAGE, at, stacked

BODY = stacked([f"line {n} of the text, which goes on for a while" for n in range(20)], top=650)


def dropped(*pages: list[Line]) -> list[str]:
    found = running_lines([(page, PAGE) for page in pages], 10)
    return [line.text for page in pages for line in page if line in found]


def test_line_that_pages_repeat_at_the_same_place_is_dropped() -> None:
    pages = [[at(f"Annual Review {n}", bottom=770), *BODY] for n in range(1, 4)]
    assert dropped(*pages) == ["Annual Review 1", "Annual Review 2", "Annual Review 3"]


def test_text_that_pages_repeat_elsewhere_is_kept() -> None:
    assert dropped(*[[*BODY, at("again", bottom=380)] for _ in range(3)]) == []


@pytest.mark.parametrize(
    "edge",
    [
        [at("17", left=290, bottom=30)],
        [at("Page 3 of 12", left=290, bottom=30)],
        [at("400", left=50, bottom=770), at("A TREATISE ON TIDES", left=250, bottom=770)],
        [at("Downloaded from www.example.org on 1 May", bottom=20)],
        [at("Revision: 2", left=50, bottom=60), at("P/N 1", left=280, bottom=60), at("May", left=500, bottom=60)],
        [at("A short running head", bottom=770, size=8)],
    ],
    ids=["number", "of many", "beside a title", "download", "three parts", "small"],
)  # fmt: skip
def test_single_page_has_its_edge_lines_dropped(edge: list[Line]) -> None:
    assert dropped([*BODY, *edge]) == [line.text for line in edge]


@pytest.mark.parametrize(
    "edge",
    [
        at("A Title in Large Type", bottom=750, size=24),
        at("The first sentence of the text ends here.", bottom=670),
        at("1984", bottom=500, left=400),
    ],
    ids=["title", "first line", "number inside"],
)
def test_text_of_a_single_page_is_kept(edge: Line) -> None:
    assert dropped([edge, *BODY]) == []


@pytest.mark.parametrize(("left", "expected"), [(10.0, True), (300.0, False)])
def test_turned_text_in_the_margin_is_a_stamp(left: float, expected: bool) -> None:
    stamp = Line.of([Word("arXiv:2401.00001", left, 200, left + 10, 500, 10, turned=1)])
    assert is_margin_stamp(stamp, PAGE) is expected


def test_page_with_nothing_else_keeps_its_lines() -> None:
    assert dropped(*[[at(f"Slide {n}", bottom=770)] for n in range(1, 5)]) == []
