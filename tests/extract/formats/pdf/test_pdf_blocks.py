import pytest

from kindly.extract.formats.pdf.pdf_blocks import PdfBlock, page_blocks
from kindly.extract.formats.pdf.pdf_headings import Styles
from kindly.extract.formats.pdf.pdf_lines import Line
from kindly.extract.formats.pdf.pdf_tags import Tag
from kindly.extract.formats.pdf.pdf_words import Font
from tests.support.pdf_parts import PAGE, at, stacked

STYLES = Styles(10, leading=0.2)
MONO = Font("Courier", mono=True)


def blocks(lines: list[Line]) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in page_blocks(lines, STYLES, PAGE, 1)]


@pytest.mark.parametrize(
    ("second", "count"),
    [
        (at("next", bottom=688), 1),
        (at("far below", bottom=660), 2),
        (at("indented", left=75, bottom=688), 2),
        (at("larger", bottom=686, size=14), 2),
        (at("• item", bottom=688), 2),
        (at("code", bottom=688, font=MONO), 2),
    ],
    ids=["close", "gap", "indent", "size", "bullet", "code"],
)
def test_paragraph_ends_where_the_next_line_differs(second: Line, count: int) -> None:
    assert len(blocks([at("a line of text that is long", bottom=700), second])) == count


def test_short_line_that_ends_a_sentence_ends_its_paragraph() -> None:
    lines = stacked(
        ["A line of the first paragraph goes to the edge", "and ends.", "Another one begins here"]
    )
    assert [text for _, text in blocks(lines)] == [
        "A line of the first paragraph goes to the edge and ends.", "Another one begins here",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("• a bullet", "item"),
        ("- a dash", "item"),
        ("3. a number", "item"),
        ("Chapter one . . . . . . . . . 12", "entry"),
        ("just text", "paragraph"),
    ],
)
def test_kind_is_read_from_the_text(text: str, kind: str) -> None:
    assert blocks([at(text, bottom=700)]) == [(kind, text)]


def test_lines_of_fixed_width_are_code_unless_all_text_is() -> None:
    line = at("return total", bottom=700, font=MONO)
    assert page_blocks([line], STYLES, PAGE, 1)[0].kind == "code"
    assert page_blocks([line], Styles(10, mono_body=True), PAGE, 1)[0].kind == "paragraph"


def test_footnotes_come_after_the_text_of_both_columns() -> None:
    left = stacked(["left text of the column"] * 3)
    note = at("1 A note in small print.", bottom=60, size=8)
    right = stacked(["right text of the column"] * 3, left=300)
    found = page_blocks([*left, note, *right], STYLES, PAGE, 1)
    assert [block.kind for block in found] == ["paragraph", "paragraph", "note"]


def test_tags_tell_headings_and_items() -> None:
    roles = {1: Tag("heading", 2, 1), 2: Tag("item", 1, 2), 3: Tag("item", 1, 3)}
    lines = [
        at("plain", bottom=700, tag=1),
        at("first", bottom=688, tag=2),
        at("second", bottom=676, tag=3),
    ]
    found: list[PdfBlock] = page_blocks(lines, STYLES, PAGE, 1, roles)
    assert [(block.kind, block.level) for block in found] == [
        ("heading", 2),
        ("item", 0),
        ("item", 0),
    ]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("a + b = c", "CMMI10", "formula"),
        ("a + b = c", "Times", "paragraph"),
        ("where a = b holds", "CMMI10", "paragraph"),
    ],
)
def test_signs_in_a_font_for_formulas_are_a_formula(text: str, name: str, kind: str) -> None:
    assert blocks([at(text, bottom=700, font=Font(name))]) == [(kind, text)]
