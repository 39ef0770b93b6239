import pytest

from kindly.extract.formats.pdf.pdf_lines import (
    Box,
    Line,
    lines_of,
    runs_right_to_left,
    split_at_gutters,
    without_shadows,
)
from kindly.extract.formats.pdf.pdf_words import Font
from tests.support.pdf_parts import at, words


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def test_wide_gap_ends_a_line() -> None:
    drawn = [*words("left part", left=50), *words("right part", left=300)]
    assert texts(lines_of([drawn])) == ["left part", "right part"]


def test_pieces_that_follow_closely_are_one_line() -> None:
    assert texts(lines_of([words("one", left=50), words("line", left=68)])) == ["one line"]


def test_number_that_is_drawn_apart_goes_before_its_item() -> None:
    drawn = [words("first item", left=70, bottom=30), words("1.", left=55, bottom=30)]
    assert texts(lines_of(drawn)) == ["1. first item"]


def test_words_of_a_formula_are_put_in_order() -> None:
    drawn = [*words("=", left=80), *words("a", left=70), *words("b", left=90)]
    assert Line.of(drawn).text == "a = b"


def test_line_knows_its_main_size_and_style() -> None:
    bold = Font("Sans-Bold", bold=True)
    line = Line.of(
        [*words("Heading", font=bold, size=14), *words("1", left=100, size=8, font=bold)]
    )
    assert (line.size, line.bold, line.mono) == (14, True, False)


def test_text_drawn_twice_is_read_once() -> None:
    twice = [
        words("shadow", left=50),
        words("shadow", left=50.8, bottom=0.5),
        words("other", left=200),
    ]
    assert [[word.text for word in line] for line in without_shadows(twice)] == [
        ["shadow"],
        ["other"],
    ]


def test_columns_drawn_row_by_row_are_split_at_the_gutter() -> None:
    rows = [
        Line.of(
            [
                *words("left words here", left=50, bottom=700 - 12 * n),
                *words("right words", left=140, bottom=700 - 12 * n),
            ]
        )
        for n in range(8)
    ]
    assert texts(split_at_gutters(rows))[:2] == ["left words here", "right words"]


def test_lines_without_a_common_gap_stay_whole() -> None:
    rows = [at("some words of a line", bottom=12 * n) for n in range(8)]
    assert split_at_gutters(rows) == rows


@pytest.mark.parametrize(
    ("text", "expected"), [("plain", False), ("שלום עולם ab", True), ("مرحبا", True), ("日本", False), ("12", False)]
)  # fmt: skip
def test_script_decides_the_direction(text: str, expected: bool) -> None:
    assert runs_right_to_left(text) is expected


def test_boxes_that_touch_do_not_overlap() -> None:
    assert not Box(0, 0, 10, 10).overlaps(Box(10, 0, 20, 10))
    assert Box(0, 0, 10, 10).overlaps(Box(9, 9, 20, 20))
