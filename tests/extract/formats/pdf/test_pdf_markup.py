import pytest

from kindly.extract.formats.pdf_layout import (
    Line,
    Sizes,
    blocks,
    page_markup,
    paragraphs,
    reading_order,
    sizes,
    without_running_headers,
)
from tests.support.pdf_files import PROSE, line, lines, read_pdf


def at(text: str, *, left: float = 0, bottom: float = 0, size: float = 10) -> Line:
    """A line whose letters are half as wide as high."""
    return Line(text, left, left + len(text) * size / 2, bottom, size)


def texts(groups: list[list[Line]]) -> list[list[str]]:
    return [[one.text for one in group] for group in groups]


def test_most_common_size_is_body_text_and_larger_ones_are_headings() -> None:
    page = [
        at("Title", size=20),
        at("Part", size=14),
        at("a long line of body text"),
        at("note", size=8),
    ]
    found = sizes([page])
    assert found == Sizes(10, (20, 14))
    assert [found.level(one) for one in page] == [1, 2, 0, 0]


def test_block_is_a_run_of_lines_down_the_page() -> None:
    column = [at("a", bottom=90), at("b", bottom=80), at("c", left=300, bottom=90)]
    assert texts(blocks(column)) == [["a", "b"], ["c"]]


def test_xy_cut_orders_columns_that_are_drawn_out_of_order() -> None:
    drawn = [
        [at("right", left=300, bottom=80)],
        [at("left", bottom=80)],
        [at("a title over both columns" * 3, bottom=100)],
    ]
    assert texts(reading_order(drawn)) == [["a title over both columns" * 3], ["left"], ["right"]]


@pytest.mark.parametrize(
    ("second", "count"),
    [
        (at("next", bottom=88), 1),
        (at("far below", bottom=60), 2),
        (at("indented", left=20, bottom=88), 2),
        (at("larger", bottom=88, size=14), 2),
        (at("- item", bottom=88), 2),
    ],
    ids=["close", "gap", "indent", "size", "bullet"],
)
def test_gap_indent_size_and_bullet_start_a_paragraph(second: Line, count: int) -> None:
    assert len(paragraphs([at("first", bottom=100), second])) == count


def test_markup_has_headings_paragraphs_and_lists() -> None:
    page = [
        at("Title", bottom=100, size=20),
        at("some text here", bottom=70),
        at("- one", bottom=40),
        at("- two", bottom=28),
    ]
    assert page_markup(page, Sizes(10, (20,))) == (
        "<h1>Title</h1><p>some text here</p><ul><li>one</li><li>two</li></ul>"
    )


def test_line_that_most_pages_share_is_a_running_header() -> None:
    pages = [[at("Journal 7"), at(f"text {word}"), at("more")] for word in "abcde"]
    pages[0][0] = at("Other")
    found = without_running_headers(pages)
    assert [one.text for one in found[1]] == ["text b"]
    assert [one.text for one in found[0]] == ["Other", "text a"]


TITLE = line("Wide title over both of the columns of the page, it is", y=700)
LEFT = [f"left line {n} goes on and on" for n in range(3)]
RIGHT = [f"right line {n} goes on" for n in range(3)]


@pytest.mark.parametrize(
    "drawn",
    [
        (TITLE, lines(LEFT, y=650), lines(RIGHT, x=320, y=650)),
        (lines(RIGHT, x=320, y=650), lines(LEFT, y=650), TITLE),
    ],
    ids=["in order", "backwards"],
)  # fmt: skip
def test_columns_are_read_in_order(drawn: tuple[str, ...]) -> None:
    text = read_pdf("\n".join(drawn)).text
    positions = [text.index(words) for words in ("Wide title", *LEFT, *RIGHT)]
    assert positions == sorted(positions)


def test_paragraphs_drawn_in_reverse_are_read_from_the_top() -> None:
    text = read_pdf(line("Last words.", y=300) + line("First words.", y=700)).text
    assert text == "— page 1 —\n\nFirst words.\n\nLast words."


def test_short_lines_keep_their_breaks_and_an_indent_starts_a_paragraph() -> None:
    content = lines(["A rose", "is a rose", PROSE[0]]) + line("Indented", x=90, y=700 - 3 * 14.4)
    text = read_pdf(content).text
    assert f"A rose  \nis a rose  \n{PROSE[0]}\n\nIndented" in text


def test_running_header_and_footer_are_left_out() -> None:
    pages = [
        "\n".join(
            (line("The Journal of Tides", y=760), line(f"Words number {word}.", y=700), line(f"{n}", y=40))
        )
        for n, word in enumerate(("one", "two", "three", "four", "five"))
    ]  # fmt: skip
    text = read_pdf(*pages).text
    assert "Journal" not in text
    assert "Words number five." in text
