import pytest

from kindly.extract.formats.pdf.pdf_headings import (
    Levels,
    Styles,
    Surroundings,
    is_heading,
    number_depth,
    outline_key,
    read_styles,
)
from kindly.extract.formats.pdf.pdf_lines import Line
from kindly.extract.formats.pdf.pdf_words import Font
from tests.support.pdf_parts import at, stacked

BOLD, ITALIC = Font("Sans-Bold", bold=True), Font("Serif-Italic", italic=True)
BODY = stacked(["a line of body text that goes on for a while"] * 5)
STYLES = read_styles(BODY, {})
ALONE = Surroundings(above=1.0, next_differs=True, alone=True)


def test_style_of_most_characters_is_the_body() -> None:
    assert (STYLES.body, STYLES.bold_body, STYLES.mono_body) == (10, False, False)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (at("Large Title", size=20), True),
        (at("Somewhat larger", size=12), True),
        (at("Bold Words Alone", font=BOLD), True),
        (at("RESULTS AND DISCUSSION"), True),
        (at("Elastic Stop Nut", font=ITALIC), True),
        (at("1.2 Numbered", size=10.5), True),
        (at("plain words"), False),
        (at("A bold sentence that ends.", font=BOLD), False),
        (at("Bold label:", font=BOLD), False),
        (at("Table 3. Bold caption", font=BOLD), False),
        (at("a = b + c", size=14), False),
        (at("someone@example.org", size=14), False),
        (at("12", size=20), False),
        (at("www.example.org/tides", size=14), False),
        (at("For more information:", size=14), False),
        (at("small print", size=8, font=BOLD), False),
    ],
    ids=lambda value: value.text if isinstance(value, Line) else None,
)
def test_heading_differs_from_the_text(line: Line, expected: bool) -> None:
    assert is_heading([line], ALONE, STYLES) is expected


def test_bold_words_in_a_row_with_others_are_no_heading() -> None:
    beside = Surroundings(above=1.0, next_differs=True, alone=False)
    assert not is_heading([at("Bold Words", font=BOLD)], beside, STYLES)


def test_outline_names_headings() -> None:
    styles = Styles(10, outline={outline_key("On Tides"): 2})
    lines = [at("on  tides")]
    assert is_heading(lines, ALONE, styles)
    assert Levels([lines], styles).level(lines) == 2


def test_levels_follow_size_and_number() -> None:
    title, first, second = (
        [at("Title", size=20)],
        [at("1 One", font=BOLD)],
        [at("1.1 Two", font=BOLD)],
    )
    levels = Levels([title, first, second], STYLES)
    assert [levels.level(group) for group in (title, first, second)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "depth"), [("1 One", 1), ("2.3 Two", 2), ("A.1.2 Three", 3), ("None", 0)]
)
def test_number_tells_the_depth(text: str, depth: int) -> None:
    assert number_depth(text) == depth


def test_only_heading_of_its_style_at_the_start_is_the_title() -> None:
    title, parts = (
        [at("On Tides", size=14)],
        [[at(text, size=14, font=BOLD)] for text in ("High", "Low")],
    )
    levels = Levels([title, *parts], STYLES)
    assert [levels.level(group) for group in (title, *parts)] == [1, 2, 2]
