from kindly.extract.formats.pdf.pdf_lines import Line
from kindly.extract.formats.pdf.reading_order import in_reading_order
from tests.support.pdf_parts import at, stacked

LEFT = stacked([f"left column line {n}" for n in range(6)])
RIGHT = stacked([f"right column line {n}" for n in range(6)], left=300)
TITLE = at("a title over both columns of the whole page and more of it", bottom=740)


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def test_order_of_drawing_is_kept_if_nothing_stands_against_it() -> None:
    drawn = [TITLE, *LEFT, *RIGHT]
    assert in_reading_order(drawn) == drawn


def test_columns_drawn_out_of_order_are_read_one_after_the_other() -> None:
    assert texts(in_reading_order([*RIGHT, *LEFT, TITLE])) == texts([TITLE, *LEFT, *RIGHT])


def test_rows_across_two_columns_are_read_column_by_column() -> None:
    mixed = [line for pair in zip(LEFT, RIGHT, strict=True) for line in pair]
    assert texts(in_reading_order([*mixed, TITLE])) == texts([TITLE, *LEFT, *RIGHT])


def test_wide_line_between_columns_divides_them() -> None:
    wide = at("a wide heading that reaches over both columns of the page", bottom=600)
    low_left = stacked([f"lower left {n}" for n in range(4)], top=570)
    low_right = stacked([f"lower right {n}" for n in range(4)], left=300, top=570)
    drawn = [*low_right, *low_left, wide, *RIGHT, *LEFT]
    assert texts(in_reading_order(drawn)) == texts([*LEFT, *RIGHT, wide, *low_left, *low_right])


def test_row_from_right_to_left_begins_at_the_right() -> None:
    row = [at("ארץ", left=50, bottom=100), at("שם", left=300, bottom=100)]
    top = at("כותרת", left=50, bottom=300)
    assert texts(in_reading_order([*row, top])) == ["כותרת", "שם", "ארץ"]
