from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_tables.drawings import Rule, Rules
from kindly.extract.formats.pdf.pdf_tables.ruled_tables import merged, ruled_tables
from tests.support.pdf_parts import grid, rows_of, words

COLUMNS = (50, 150, 250, 350)
ROWS = (100, 120, 140, 160)
CELLS = [
    word
    for row, texts in enumerate(
        (("Name", "Tide", "Depth"), ("Hull", "high", "4 m"), ("Goole", "low", "2 m"))
    )
    for column, text in enumerate(texts)
    for word in words(text, left=COLUMNS[column] + 4, bottom=145 - 20 * row)
]


def test_grid_of_lines_is_a_table_with_a_header() -> None:
    (table,) = ruled_tables(grid(COLUMNS, ROWS), CELLS)
    assert rows_of(table) == [
        ["Name", "Tide", "Depth"],
        ["Hull", "high", "4 m"],
        ["Goole", "low", "2 m"],
    ]
    assert table.header == 1


def test_missing_line_between_fields_makes_one_cell_that_spans_them() -> None:
    lines = grid(COLUMNS, ROWS)
    down = [*lines.down[:2], Rule(250, 100, 140), lines.down[3]]
    text = [word for word in CELLS if word.text != "Depth"]
    (table,) = ruled_tables(Rules(lines.across, down, []), text)
    assert [(cell.text, cell.columns) for cell in table.cells if cell.row == 0] == [
        ("Name", 1),
        ("Tide", 2),
    ]
    assert table.header == 2


def test_table_without_lines_at_its_sides_is_found() -> None:
    lines = grid(COLUMNS, ROWS)
    (table,) = ruled_tables(Rules(lines.across, lines.down[1:3], []), CELLS)
    assert rows_of(table)[2] == ["Goole", "low", "2 m"]


def test_filled_box_on_top_is_the_header() -> None:
    lines = grid(COLUMNS, ROWS[:3])
    (table,) = ruled_tables(Rules(lines.across, lines.down, [Box(50, 140, 350, 160)]), CELLS)
    assert rows_of(table)[0] == ["Name", "Tide", "Depth"]


def test_text_that_runs_across_the_lines_is_no_table() -> None:
    prose = [
        word
        for n in range(3)
        for word in words(
            "unbreakable interdisciplinary misunderstandings", left=52, bottom=145 - 20 * n
        )
    ]
    assert ruled_tables(grid(COLUMNS, ROWS), prose) == []


def test_frame_around_text_is_no_table() -> None:
    assert ruled_tables(grid((50, 350), (100, 160)), CELLS) == []


def test_table_from_right_to_left_begins_at_the_right() -> None:
    text = [
        *words("ארץ", left=60, bottom=125), *words("שם", left=160, bottom=125),
        *words("אחת", left=60, bottom=105), *words("שתים", left=160, bottom=105),
    ]  # fmt: skip
    (table,) = ruled_tables(grid((50, 150, 250), (100, 120, 140)), text)
    assert rows_of(table)[0] == ["שם", "ארץ"]


def test_pieces_of_a_line_are_merged() -> None:
    pieces = [Rule(10, 0, 20), Rule(10.5, 22, 40), Rule(10, 100, 120), Rule(30, 0, 5)]
    assert [(rule.start, rule.end) for rule in merged(pieces)] == [(0, 40), (100, 120), (0, 5)]
