"""The cells of a table with their spans → a plain grid: one header row, no spans, no empty rows or columns.

The content of a cell may be anything (an element, a text): only `GridCell.text` is read. A merged cell is repeated in
each row and column that it covers, except a cell as wide as the table, which is a label of the rows below it.
"""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from kindly.frozen import frozen

MAX_CELLS = 20_000
MAX_HEADER_ROWS = 5
COPIED_CHARACTERS = 300
"""The text of a longer cell is not repeated."""

T = TypeVar("T")


@frozen
class GridCell(Generic[T]):
    """A cell as a table declares it."""

    content: T
    text: str
    rows: int = 1
    columns: int = 1
    header: bool = False
    mark: bool = False
    """Whether the cell has nothing but footnote marks."""


@frozen
class Part(Generic[T]):
    """The content of a cell at one place of the grid."""

    content: T
    copy: bool = False
    """Whether the content is also at another place."""


Entry = tuple[Part[T], ...]
"""What is written at one place: nothing, one cell, or the cells of several header rows."""


@frozen
class PlainGrid(Generic[T]):
    """A table without spans."""

    title: T | None
    """The content of a first row as wide as the table, above the header."""
    header: list[Entry[T]]
    rows: list[list[Entry[T]]]


@frozen
class _Place(Generic[T]):
    """One place of the grid: the cell that covers it, and how far it is from the cell's first place."""

    cell: GridCell[T]
    below: int = 0
    right: int = 0


_Line = list[_Place[T] | None]


def plain_grid(
    rows: Sequence[Sequence[GridCell[T]]], *, whole: bool = False
) -> PlainGrid[T] | None:
    """The table as a plain grid; None if it would be too large. `whole` keeps empty columns that have a header."""
    lines = _placed(rows)
    if lines is None:
        return None
    lines = [line for line in lines if any(place and place.cell.text for place in line)]
    width = max(map(_width, lines), default=0)
    lines = [(line + [None] * (width - len(line)))[:width] for line in lines]
    titled = _has_title(lines)
    title = next(_own(lines[0])).content if titled else None
    lines = lines[titled:]
    height = _header_height(lines)
    columns = _columns(lines[:height], lines[height:], width, whole=whole)
    marks = {column for column in columns if _has_only_marks(lines[height:], column)}
    kept = [column for column in columns if column not in marks]
    if not kept:
        kept, marks = columns, set()
    return PlainGrid(
        title,
        _header_entries(lines[:height], kept),
        [_entries(line, kept, marks) for line in lines[height:]],
    )


def _placed(rows: Sequence[Sequence[GridCell[T]]]) -> list[_Line[T]] | None:
    """The cells where a browser puts them, without the rows that no cell starts in."""
    lines: list[_Line[T]] = []
    above: dict[int, _Place[T]] = {}
    placed = 0
    for row in rows:
        line: _Line[T] = []
        waiting = iter(row)
        cell = next(waiting, None)
        while cell is not None or len(line) in above:
            if (continued := above.pop(len(line), None)) is not None:
                line.append(continued)
                continue
            if cell is None:
                break
            line += [_Place(cell, 0, right) for right in range(cell.columns)]
            cell = next(waiting, None)
            if placed + len(line) > MAX_CELLS:
                return None
        for column, place in enumerate(line):
            if place is not None and place.below + 1 < place.cell.rows:
                above[column] = _Place(place.cell, place.below + 1, place.right)
        placed += len(line)
        if row:
            lines.append(line)
    return lines


def _width(line: _Line[T]) -> int:
    """The columns up to the last one that a cell starts in; wider spans only overhang."""
    return max((n + 1 for n, place in enumerate(line) if place and not place.right), default=0)


def _own(line: _Line[T]) -> Iterator[GridCell[T]]:
    """The cells with text that start in this row."""
    return (
        place.cell
        for place in line
        if place is not None and not place.below and not place.right and place.cell.text
    )


def _is_label(line: _Line[T]) -> bool:
    """Whether the row has one cell, which is as wide as the table."""
    first = line[0]
    return (
        len(line) > 1
        and first is not None
        and not first.below
        and all(place is not None and place.cell is first.cell for place in line)
    )


def _is_header(line: _Line[T]) -> bool:
    return all(cell.header for cell in _own(line))


def _continues_header(line: _Line[T]) -> bool:
    """Whether a row below the header belongs to it: a row with one text among empty cells is a label instead."""
    if _is_label(line) or not _is_header(line):
        return False
    texts = sum(1 for _ in _own(line))
    return texts > 1 or all(place and (place.cell.text or place.below) for place in line)


def _has_title(lines: list[_Line[T]]) -> bool:
    """Whether the first row is a title over the header, rather than the header itself."""
    if len(lines) < 3 or not _is_label(lines[0]) or _is_label(lines[1]):
        return False
    if _is_header(lines[1]):
        return True
    return len(lines[0]) > 2 and not any(cell.header for line in lines for cell in _own(line))


def _header_height(lines: list[_Line[T]]) -> int:
    """How many rows at the top are the header."""
    height = 1
    if not lines or not _is_header(lines[0]) or not any(_own(lines[0])):
        return min(height, len(lines))
    for line in lines[1:MAX_HEADER_ROWS]:
        if not _continues_header(line):
            break
        height += 1
    return height if height < len(lines) else 1


def _columns(header: list[_Line[T]], body: list[_Line[T]], width: int, *, whole: bool) -> list[int]:
    """The columns with text in the body that their neighbours do not have; without a body, in the header."""
    lines = [line for line in body if not _is_label(line)]
    if whole or not lines:
        lines = header + lines
    kept: list[int] = []
    for column in range(width):
        if not any(place and place.cell.text for place in (line[column] for line in lines)):
            continue
        if column + 1 < width and _is_within(header + body, column, column + 1):
            continue
        if kept and _is_within(header + body, column, kept[-1]):
            continue
        kept.append(column)
    return kept


def _is_within(lines: list[_Line[T]], column: int, other: int) -> bool:
    """Whether every text of a column belongs to a merged cell that the other column has, too."""
    for line in lines:
        here, there = line[column], line[other]
        if here is not None and here.cell.text and (there is None or there.cell is not here.cell):
            return False
    return True


def _has_only_marks(body: list[_Line[T]], column: int) -> bool:
    places = [place for line in body if (place := line[column]) is not None and place.cell.text]
    return bool(places) and all(place.cell.mark for place in places)


def _header_entries(header: list[_Line[T]], kept: list[int]) -> list[Entry[T]]:
    """For each column the texts of its header rows, each once."""
    entries: list[Entry[T]] = []
    written: set[int] = set()
    for column in kept:
        cells: list[GridCell[T]] = []
        for line in header:
            place = line[column]
            if place is None or not place.cell.text:
                continue
            if not cells or (place.cell is not cells[-1] and place.cell.text != cells[-1].text):
                cells.append(place.cell)
        entries.append(tuple(Part(cell.content, copy=id(cell) in written) for cell in cells))
        written |= set(map(id, cells))
    return entries


def _entries(line: _Line[T], kept: list[int], marks: set[int]) -> list[Entry[T]]:
    entries: list[Entry[T]] = []
    before: _Place[T] | None = None
    for column in kept:
        place = line[column]
        continued = before is not None and place is not None and before.cell is place.cell
        entries.append(() if continued and _is_label(line) else _entry(place, continued=continued))
        before = place
    for column in sorted(marks):
        place = line[column]
        if place is not None and place.cell.text:
            last = max((n for n, entry in enumerate(entries) if entry), default=0)
            entries[last] = (*entries[last], Part(place.cell.content, copy=place.below > 0))
    return entries


def _entry(place: _Place[T] | None, *, continued: bool) -> Entry[T]:
    """What is written here; `continued` if the place before has the same cell."""
    if place is None or not place.cell.text:
        return ()
    copy = place.below > 0 or continued
    if copy and len(place.cell.text) > COPIED_CHARACTERS:
        return ()
    return (Part(place.cell.content, copy=copy),)
