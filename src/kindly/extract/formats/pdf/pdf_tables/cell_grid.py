"""A table on a PDF page as a grid of cells, and its markup. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from kindly.extract.formats.pdf.pdf_lines import Box, Line, lines_of
from kindly.extract.formats.pdf.pdf_words import Word

CURRENCY = re.compile(r"[$€£¥(]{1,2}")
UNIT = re.compile(r"[%)]{1,2}")
LAYOUT_CHARACTERS = 500
"""Cells with more text than this, on average, are boxes of a page layout."""
SAME_WIDTH = 2.0
FEW_CELLS = 6
FEW_CHARACTERS = 150
LEADER = re.compile(r"(?:\s*[.·…_]){4,}\s*")


class TableCell(NamedTuple):
    """A cell: its first row and column, how many it spans, and its text."""

    row: int
    column: int
    rows: int
    columns: int
    text: str


@dataclass(frozen=True, eq=False)
class PdfTable:
    """A table and its place on the page."""

    box: Box
    cells: tuple[TableCell, ...]
    header: int
    """How many rows are its header."""
    first: int = 0
    """The place of its first word in drawing order."""

    @property
    def left(self) -> float:
        """The left edge."""
        return self.box.left

    @property
    def right(self) -> float:
        """The right edge."""
        return self.box.right

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.box.top

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.box.bottom

    @property
    def columns(self) -> int:
        """The number of columns."""
        return max(cell.column + cell.columns for cell in self.cells)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return max(cell.row + cell.rows for cell in self.cells)

    def row_texts(self, row: int) -> tuple[str, ...]:
        """The texts of the cells that begin in a row."""
        return tuple(cell.text for cell in self.cells if cell.row == row)


def continued(table: PdfTable, more: PdfTable) -> PdfTable | None:
    """One table of two, if the second goes on with the first on the next page or column; its header is not repeated."""
    if table.columns != more.columns:
        return None
    repeated = 0
    while repeated < table.header and table.row_texts(repeated) == more.row_texts(repeated):
        repeated += 1
    if repeated < max(table.header, 1) and more.header and not _same_width(table, more):
        return None
    if repeated and repeated < table.header:
        return None
    start = table.rows - repeated
    moved = [cell._replace(row=cell.row + start) for cell in more.cells if cell.row >= repeated]
    if not moved:
        return table
    return PdfTable(more.box, (*table.cells, *moved), table.header, table.first)


def _same_width(one: PdfTable, other: PdfTable) -> bool:
    return abs(one.box.width - other.box.width) <= SAME_WIDTH


def cell_text(words: Iterable[Word]) -> str:
    """The text of a cell, its lines from top to bottom."""
    given = list(words)
    if not given:
        return ""
    if _is_one_line(given):
        parts = [f"{'' if word.glued else ' '}{word.text}" for word in given]
        return LEADER.sub(" ", "".join(parts)).strip()
    lines = lines_of([given]) if not any(word.turned for word in given) else _turned(given)
    lines.sort(key=lambda line: -line.bottom)
    return joined_text(_rows_in_order(lines))


def _is_one_line(words: Sequence[Word]) -> bool:
    """Whether words stand side by side in reading order, as in most cells."""
    first = words[0]
    end = first.left
    for word in words:
        if (
            word.turned
            or word.left < end
            or word.size != first.size
            or word.bottom != first.bottom
            or not word.text.isascii()
        ):
            return len(words) == 1
        end = word.right
    return True


def joined_text(lines: Sequence[Line]) -> str:
    """The lines as one text, words put together where a line breaks them."""
    parts: list[str] = []
    for line in lines:
        parts.append(line.text)
        if not line.broken_word:
            parts.append(" ")
    return LEADER.sub(" ", "".join(parts)).strip()


def _turned(words: list[Word]) -> list[Line]:
    """Lines of turned words: as they were drawn."""
    upright = [word for word in words if not word.turned]
    found = lines_of([upright]) if upright else []
    turned = [word for word in words if word.turned]
    return [*found, Line.of(turned)]


def _rows_in_order(lines: list[Line]) -> list[Line]:
    """Lines from top to bottom; pieces of one row from left to right."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and abs(rows[-1][0].bottom - line.bottom) < 0.4 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    ordered: list[Line] = []
    for row in rows:
        backwards = sum(line.right_to_left for line in row) * 2 > len(row)
        ordered += sorted(row, key=lambda line: line.left, reverse=backwards)
    return ordered


def without_empty(cells: Sequence[TableCell]) -> list[TableCell]:
    """The cells without rows and columns that have no text."""
    used_rows = sorted({cell.row for cell in cells if cell.text})
    used_columns = sorted({cell.column for cell in cells if cell.text})
    row_at = {row: n for n, row in enumerate(used_rows)}
    column_at = {column: n for n, column in enumerate(used_columns)}
    return [
        TableCell(
            row_at[cell.row],
            column_at[cell.column],
            _used(cell.row, cell.rows, used_rows),
            _used(cell.column, cell.columns, used_columns),
            cell.text,
        )
        for cell in cells
        if cell.row in row_at and cell.column in column_at
    ]


def _used(start: int, count: int, used: Sequence[int]) -> int:
    """How many of the rows or columns of a cell are used, at least one."""
    return 1 if count == 1 else max(1, sum(start <= one < start + count for one in used))


def with_units(cells: Sequence[TableCell]) -> list[TableCell]:
    """The cells with columns of currency signs and per cent signs joined to their numbers."""
    count = max((cell.column + cell.columns for cell in cells), default=0)
    texts = {(cell.row, cell.column): cell.text for cell in cells}
    moved: dict[int, int] = {}
    for column in range(count):
        own = [text for (_, at), text in texts.items() if at == column and text]
        if own and all(CURRENCY.fullmatch(text) for text in own) and column + 1 < count:
            moved[column] = column + 1
        elif own and all(UNIT.fullmatch(text) for text in own) and column > 0:
            moved[column] = column - 1
    if not moved:
        return list(cells)
    found: list[TableCell] = []
    for cell in cells:
        if cell.column in moved and cell.columns == 1:
            target = moved[cell.column]
            if cell.text and (cell.row, target) not in texts:
                found.append(cell._replace(column=target))
            continue
        before = (
            texts.get((cell.row, cell.column - 1), "")
            if moved.get(cell.column - 1) == cell.column
            else ""
        )
        after = (
            texts.get((cell.row, cell.column + 1), "")
            if moved.get(cell.column + 1) == cell.column
            else ""
        )
        found.append(cell._replace(text=f"{before}{cell.text}{after}"))
    return without_empty(found)


def is_data_table(cells: Sequence[TableCell]) -> bool:
    """Whether cells hold data: several rows and columns, and not whole pages of text."""
    filled = [cell for cell in cells if cell.text]
    rows = {cell.row for cell in filled}
    columns = {cell.column for cell in filled}
    if len(rows) < 2 or len(columns) < 2 or len(filled) < 3:
        return False
    average = sum(len(cell.text) for cell in filled) / len(filled)
    if average > LAYOUT_CHARACTERS or (len(filled) < FEW_CELLS and average > FEW_CHARACTERS):
        return False
    several = [row for row in rows if sum(cell.row == row for cell in filled) >= 2]
    return len(several) * 2 >= len(rows) or len(several) >= 3


def mirrored(cells: Sequence[TableCell]) -> list[TableCell]:
    """The cells with the first column at the right."""
    count = max(cell.column + cell.columns for cell in cells)
    turned = [cell._replace(column=count - cell.column - cell.columns) for cell in cells]
    return sorted(turned)


def markup(table: PdfTable, caption: str = "") -> str:
    """The table as HTML."""
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for cell in sorted(table.cells, key=lambda cell: (cell.row, cell.column)):
        tag = "th" if cell.row < table.header else "td"
        spans = "".join(
            f' {name}="{count}"'
            for name, count in (("rowspan", cell.rows), ("colspan", cell.columns))
            if count > 1
        )
        rows[cell.row].append(f"<{tag}{spans}>{escape(cell.text, quote=False)}</{tag}>")
    head = "".join(f"<tr>{''.join(row)}</tr>" for row in rows[: table.header])
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows[table.header :])
    title = f"<caption>{escape(caption, quote=False)}</caption>" if caption else ""
    head = f"<thead>{head}</thead>" if head else ""
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"
