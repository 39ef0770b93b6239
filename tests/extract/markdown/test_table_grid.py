import pytest

from kindly.extract.markdown.table_grid import GridCell, PlainGrid, plain_grid


def cell(text: str, rows: int = 1, columns: int = 1) -> GridCell[str]:
    return GridCell(text, text, rows, columns, mark=text.startswith("[^"))


def head(text: str, rows: int = 1, columns: int = 1) -> GridCell[str]:
    return GridCell(text, text, rows, columns, header=True)


def lines(grid: PlainGrid[str] | None) -> list[list[str]]:
    assert grid is not None
    entries = [grid.header, *grid.rows]
    return [[" ".join(part.content for part in entry) for entry in line] for line in entries]


@pytest.mark.parametrize(
    ("rows", "grid"),
    [
        (
            [[head("a"), head("b")], [cell("1", rows=2), cell("2")], [cell("3")]],
            [["a", "b"], ["1", "2"], ["1", "3"]],
        ),
        (
            [[head("a"), head("b"), head("c")], [cell("x"), cell("no", columns=2)], [cell("y"), cell("1"), cell("2")]],
            [["a", "b", "c"], ["x", "no", "no"], ["y", "1", "2"]],
        ),
        (
            [[head("a", rows=2), head("b", columns=2)], [head("c"), head("d")], [cell("1"), cell("2"), cell("3")]],
            [["a", "b c", "b d"], ["1", "2", "3"]],
        ),
        (
            [[head("a", columns=2), head("b")], [cell(""), cell("x"), cell("3")], [cell("all", columns=2), cell("3")]],
            [["a", "b"], ["x", "3"], ["all", "3"]],
        ),
        (
            [[head("a"), head("photo")], [cell("1"), cell("")], [cell("2"), cell("")]],
            [["a"], ["1"], ["2"]],
        ),
        (
            [[head("a"), head("b"), head("c")], [cell("1"), cell("2"), cell("[^1]")], [cell("3"), cell("")]],
            [["a", "b"], ["1", "2 [^1]"], ["3", ""]],
        ),
        (
            [[head("a"), head("b")], [cell("group", columns=2)], [cell("1"), cell("2")]],
            [["a", "b"], ["group", ""], ["1", "2"]],
        ),
        (
            [[head("a"), head("b")], [cell("1", rows=3), cell("2", rows=3)], [], [cell("")], [cell("3"), cell("4")]],
            [["a", "b"], ["1", "2"], ["1", "2"], ["3", "4"]],
        ),
        (
            [[head("a"), head("b")], [cell("1"), cell("2", columns=90)]],
            [["a", "b"], ["1", "2"]],
        ),
        (
            [[head("a"), head("b")], [head("total"), cell("")], [cell("1"), cell("2")]],
            [["a", "b"], ["total", ""], ["1", "2"]],
        ),
        ([[head("a"), head("b")], [head("c"), head("d")]], [["a", "b"], ["c", "d"]]),
    ],
    ids=[
        "row span", "column span", "two header rows", "colour column", "column without data", "column of marks",
        "label of rows", "row without cells", "overhanging span", "label in a header cell", "only headers",
    ],
)  # fmt: skip
def test_table_becomes_one_header_and_complete_rows(
    rows: list[list[GridCell[str]]], grid: list[list[str]]
) -> None:
    assert lines(plain_grid(rows)) == grid


def test_first_row_over_the_header_is_the_title() -> None:
    rows = [[head("Title", columns=2)], [head("a"), head("b")], [cell("1"), cell("2")]]
    grid = plain_grid(rows)
    assert grid is not None
    assert grid.title == "Title"
    assert lines(grid) == [["a", "b"], ["1", "2"]]


def test_first_row_over_names_and_values_is_the_header() -> None:
    rows = [[head("Dune", columns=2)], [head("by"), cell("Herbert")], [head("in"), cell("1965")]]
    assert lines(plain_grid(rows)) == [["Dune", "Dune"], ["by", "Herbert"], ["in", "1965"]]


def test_long_text_is_not_repeated() -> None:
    long = "word " * 100
    rows = [[head("a"), head("b")], [cell("1"), cell(long, rows=2)], [cell("2")]]
    assert lines(plain_grid(rows)) == [["a", "b"], ["1", long], ["2", ""]]


def test_first_place_of_a_merged_cell_is_no_copy() -> None:
    merged = [[cell("x", columns=2)], [cell("y", rows=2), cell("1")], [cell("2")]]
    rows = [[head("a"), head("b")], *merged]
    grid = plain_grid(rows)
    assert grid is not None
    assert [[part.copy for entry in line for part in entry] for line in grid.rows] == [
        [False], [False, False], [True, False],
    ]  # fmt: skip


def test_named_column_of_a_data_file_is_kept_empty() -> None:
    rows = [[head("a"), head("notes"), head("")], [cell("1"), cell(""), cell("")]]
    assert lines(plain_grid(rows, whole=True)) == [["a", "notes"], ["1", ""]]


def test_table_with_too_many_places_has_no_grid() -> None:
    assert plain_grid([[cell("x", rows=100, columns=100)] * 3] * 100) is None
