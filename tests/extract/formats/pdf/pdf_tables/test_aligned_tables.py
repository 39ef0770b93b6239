import pytest

from kindly.extract.formats.pdf.pdf_lines import Line
from kindly.extract.formats.pdf.pdf_tables.aligned_tables import aligned_tables
from kindly.extract.formats.pdf.pdf_tables.drawings import Rule, Rules
from tests.support.pdf_parts import NO_RULES, at, rows_of

LEFT = (50, 200, 300)


def lines(rows: list[list[str]], *, top: float = 700, lefts: tuple[int, ...] = LEFT) -> list[Line]:
    return [
        at(text, left=left, bottom=top - 14 * n)
        for n, row in enumerate(rows)
        for text, left in zip(row, lefts, strict=False)
        if text
    ]


DATA = [
    ["Port", "Tide", "Depth"],
    ["Hull", "4.20", "11"],
    ["Goole", "3.80", "9"],
    ["Grimsby", "5.10", "14"],
]


def test_short_texts_in_columns_are_a_table() -> None:
    (table,) = aligned_tables(lines(DATA), NO_RULES)
    assert rows_of(table) == DATA
    assert table.header == 1


def test_cell_of_two_lines_is_one_cell() -> None:
    drawn = lines([*DATA[:3], ["Grimsby", "the tide of", "14"], ["", "the morning", ""]])
    (table,) = aligned_tables(drawn, NO_RULES)
    assert rows_of(table)[-1] == ["Grimsby", "the tide of the morning", "14"]


def test_rows_above_the_first_rule_are_the_header() -> None:
    rules = Rules([Rule(715, 50, 320), Rule(683, 50, 320), Rule(640, 50, 320)], [], [])
    rows = [["", "Year 2024", ""], *DATA]
    (table,) = aligned_tables(lines(rows), rules)
    assert table.header == 2


def test_currency_signs_join_their_numbers() -> None:
    rows = [["Cost", "$", "178"], ["Research", "$", "3,423"], ["Total", "$", "4,737"]]
    (table,) = aligned_tables(lines(rows), NO_RULES)
    assert rows_of(table)[0] == ["Cost", "$178"]


@pytest.mark.parametrize(
    "rows",
    [
        [[f"{n}.", "an item of a list that goes on"] for n in range(1, 6)],
        [["a line of prose that fills its column", "and the line of the column beside it"]] * 6,
        [["Chapter . . . . . . . . . .", f"{n}"] for n in range(1, 6)],
        [["a = b + c", "(1)"], ["d = e ∑ f", "(2)"], ["g = h ∫ i", "(3)"]],
        [["only", "two"], ["short", "rows"]],
    ],
    ids=["list", "prose", "contents", "formulas", "too short"],
)  # fmt: skip
def test_other_things_in_columns_are_no_table(rows: list[list[str]]) -> None:
    assert aligned_tables(lines(rows, lefts=(50, 300)), NO_RULES) == []
