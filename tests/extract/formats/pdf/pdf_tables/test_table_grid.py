import pytest

from kindly.extract.formats.pdf.pdf_tables.table_grid import (
    PdfTable,
    TableCell,
    cell_text,
    continued,
    is_data_table,
    markup,
    mirrored,
    with_units,
    without_empty,
)
from tests.support.pdf_parts import PAGE, rows_of, words


def cells(*rows: tuple[str, ...]) -> tuple[TableCell, ...]:
    return tuple(
        TableCell(r, c, 1, 1, text) for r, row in enumerate(rows) for c, text in enumerate(row)
    )


def table(*rows: tuple[str, ...], header: int = 1) -> PdfTable:
    return PdfTable(PAGE, cells(*rows), header)


def test_markup_has_header_cells_and_spans() -> None:
    wide = TableCell(0, 0, 1, 2, "A & B")
    found = markup(PdfTable(PAGE, (wide, *cells(("", ""), ("1", "2"))[2:]), 1))
    assert found == (
        '<table><thead><tr><th colspan="2">A &amp; B</th></tr></thead>'
        "<tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    )


def test_lines_of_a_cell_are_read_from_top_to_bottom() -> None:
    drawn = [*words("low", bottom=10), *words("high water", bottom=30)]
    assert cell_text(drawn) == "high water low"


def test_rows_and_columns_without_text_are_left_out() -> None:
    kept = without_empty(cells(("a", "", "b"), ("", "", ""), ("c", "", "d")))
    assert [cell[:2] for cell in kept] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_signs_in_their_own_column_join_the_numbers() -> None:
    joined = with_units(cells(("Cost", "$", "5", "%"), ("Gain", "$", "7", "%")))
    assert [cell.text for cell in joined] == ["Cost", "$5%", "Gain", "$7%"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((("a", "b"), ("c", "d")), True),
        ((("a", "b"),), False),
        ((("a",), ("b",), ("c",)), False),
        ((("a" * 600, "b" * 600), ("c" * 600, "d" * 600)), False),
    ],
    ids=["data", "one row", "one column", "layout"],
)
def test_data_has_rows_and_columns_of_little_text(
    rows: tuple[tuple[str, ...], ...], expected: bool
) -> None:
    assert is_data_table(cells(*rows)) is expected


def test_mirrored_table_begins_at_the_right() -> None:
    assert [cell.text for cell in mirrored(cells(("a", "b")))] == ["b", "a"]


def test_table_goes_on_without_its_repeated_header() -> None:
    joined = continued(table(("H", "I"), ("1", "2")), table(("H", "I"), ("3", "4")))
    assert joined is not None
    assert rows_of(joined) == [["H", "I"], ["1", "2"], ["3", "4"]]


def test_table_with_other_columns_is_another_table() -> None:
    assert continued(table(("H", "I"), ("1", "2")), table(("H", "I", "J"), ("1", "2", "3"))) is None
