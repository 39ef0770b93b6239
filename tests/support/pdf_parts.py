"""Words, lines and rules of PDF pages for tests: letters are half as wide as high."""

from collections.abc import Sequence

from kindly.extract.formats.pdf.pdf_lines import Box, Line
from kindly.extract.formats.pdf.pdf_tables.drawings import Rule, Rules
from kindly.extract.formats.pdf.pdf_tables.table_grid import PdfTable
from kindly.extract.formats.pdf.pdf_words import Font, Word

PAGE = Box(0, 0, 600, 800)
PLAIN = Font()
NO_RULES = Rules([], [], [])


def words(
    text: str,
    *,
    left: float = 50,
    bottom: float = 0,
    size: float = 10,
    font: Font = PLAIN,
    tag: int = -1,
) -> list[Word]:
    """The words of a text on one line."""
    found = []
    for one in text.split():
        right = left + len(one) * size / 2
        found.append(Word(one, left, bottom, right, bottom + size, size, font, tag))
        left = right + 0.3 * size
    return found


def at(
    text: str,
    *,
    left: float = 50,
    bottom: float = 0,
    size: float = 10,
    font: Font = PLAIN,
    tag: int = -1,
) -> Line:
    """A line."""
    return Line.of(words(text, left=left, bottom=bottom, size=size, font=font, tag=tag))


def stacked(
    texts: Sequence[str], *, left: float = 50, top: float = 700, size: float = 10
) -> list[Line]:
    """Lines one below the other."""
    return [
        at(text, left=left, bottom=top - n * 1.2 * size, size=size) for n, text in enumerate(texts)
    ]


def grid(columns: Sequence[float], rows: Sequence[float]) -> Rules:
    """The lines of a table with these edges."""
    left, right, bottom, top = min(columns), max(columns), min(rows), max(rows)
    return Rules([Rule(y, left, right) for y in rows], [Rule(x, bottom, top) for x in columns], [])


def rows_of(table: PdfTable) -> list[list[str]]:
    """The texts of a table's cells, row by row."""
    return [list(table.row_texts(row)) for row in range(table.rows)]
