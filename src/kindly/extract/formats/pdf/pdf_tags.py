"""The tags of a PDF page: what a tagged file says about its headings, list items, code and tables."""

import ctypes
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_tables.table_grid import (
    PdfTable,
    TableCell,
    cell_text,
    is_data_table,
    without_empty,
)
from kindly.extract.formats.pdf.pdf_words import Word

MAX_ELEMENTS: Final = 5_000
MAX_DEPTH: Final = 40
MAX_SPAN: Final = 50

Role = Literal["heading", "item", "code", "caption", "artifact"]


class Tag(NamedTuple):
    """What marked content is a part of."""

    role: Role
    level: int
    element: int
    """A number that all content of one heading or item shares."""


@dataclass(frozen=True)
class TaggedCell:
    """A cell of a tagged table."""

    row: int
    header: bool
    rows: int
    columns: int
    content: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class PageTags:
    """The tags of one page."""

    roles: Mapping[int, Tag] = field(default_factory=dict)
    tables: Sequence[Sequence[TaggedCell]] = ()


NO_TAGS: Final = PageTags()


def read_tags(page: Any) -> PageTags:
    """The tags of a page; none if the file has none."""
    from pypdfium2 import raw  # type: ignore[import-untyped]

    tree = raw.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return NO_TAGS
    try:
        return _TagReader(raw).read(tree)
    finally:
        raw.FPDF_StructTree_Close(tree)


class _TagReader:
    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._count = 0
        self._roles: dict[int, Tag] = {}
        self._tables: list[list[TaggedCell]] = []

    def read(self, tree: Any) -> PageTags:
        raw = self._raw
        for index in range(min(raw.FPDF_StructTree_CountChildren(tree), MAX_ELEMENTS)):
            child = raw.FPDF_StructTree_GetChildAtIndex(tree, index)
            if child:
                self._walk(child, None, None, 0)
        return PageTags(self._roles, tuple(self._tables))

    def _walk(self, element: Any, tag: Tag | None, cell: TaggedCell | None, depth: int) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS or depth > MAX_DEPTH:
            return
        kind = self._type(element)
        if kind == "Table":
            if cell is None:
                self._read_table(element, depth)
                return
        elif kind in ROLES:
            tag = Tag(*ROLES[kind], self._count)
        elif kind == "LI":
            tag = Tag("item", (tag.level if tag and tag.role == "item" else 0) + 1, self._count)
        for number in self._content(element):
            if cell is not None:
                cell.content.append(number)
            elif tag is not None:
                self._roles[number] = tag
        for child in self._children(element):
            self._walk(child, tag, cell, depth + 1)

    def _read_table(self, table: Any, depth: int) -> None:
        cells: list[TaggedCell] = []
        rows = list(self._rows(table, depth))
        for n, row in enumerate(rows):
            for child in self._children(row):
                kind = self._type(child)
                if kind in ("TH", "TD"):
                    cell = TaggedCell(
                        n,
                        kind == "TH",
                        self._number(child, "RowSpan"),
                        self._number(child, "ColSpan"),
                    )
                    cells.append(cell)
                    self._walk(child, None, cell, depth + 1)
        self._tables.append(cells)

    def _rows(self, table: Any, depth: int) -> Iterator[Any]:
        for child in self._children(table):
            kind = self._type(child)
            if kind == "TR":
                yield child
            elif kind in ("THead", "TBody", "TFoot", "NonStruct"):
                yield from self._rows(child, depth + 1)
            else:
                self._walk(child, None, None, depth + 1)

    def _children(self, element: Any) -> Iterator[Any]:
        raw = self._raw
        for index in range(min(raw.FPDF_StructElement_CountChildren(element), MAX_ELEMENTS)):
            child = raw.FPDF_StructElement_GetChildAtIndex(element, index)
            if child:
                yield child

    def _content(self, element: Any) -> Iterator[int]:
        raw = self._raw
        # Unlike the list of all its content, its children are those on this page.
        for index in range(min(raw.FPDF_StructElement_CountChildren(element), MAX_ELEMENTS)):
            number = raw.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if number >= 0:
                yield number

    def _type(self, element: Any) -> str:
        length = self._raw.FPDF_StructElement_GetType(element, None, 0)
        if length <= 2:
            return ""
        buffer = ctypes.create_string_buffer(length)
        self._raw.FPDF_StructElement_GetType(element, buffer, length)
        return buffer.raw[: length - 2].decode("utf-16-le", "replace")

    def _number(self, element: Any, name: str) -> int:
        """A number among the attributes of an element, 1 if it is not there."""
        raw = self._raw
        for index in range(min(max(raw.FPDF_StructElement_GetAttributeCount(element), 0), 10)):
            attribute = raw.FPDF_StructElement_GetAttributeAtIndex(element, index)
            value = (
                raw.FPDF_StructElement_Attr_GetValue(attribute, name.encode())
                if attribute
                else None
            )
            number = ctypes.c_float(0)
            if value and raw.FPDF_StructElement_Attr_GetNumberValue(value, number):
                return min(max(int(number.value), 1), MAX_SPAN)
        return 1


ROLES: Final[dict[str, tuple[Role, int]]] = {
    **{f"H{level}": ("heading", level) for level in range(1, 7)},
    "H": ("heading", 2),
    "Title": ("heading", 1),
    "Code": ("code", 0),
    "Caption": ("caption", 0),
}


def tagged_tables(tags: PageTags, words: Sequence[Word]) -> list[PdfTable]:
    """The tables that the tags describe; of a table in two columns, each part."""
    if not tags.tables:
        return []
    by_tag: dict[int, list[Word]] = defaultdict(list)
    for word in words:
        if word.tag >= 0:
            by_tag[word.tag].append(word)
    found = [_table(part) for cells in tags.tables for part in _parts(cells, by_tag)]
    return [table for table in found if table is not None]


_Filled = tuple[TaggedCell, list[Word]]


def _parts(cells: Sequence[TaggedCell], by_tag: Mapping[int, list[Word]]) -> list[list[_Filled]]:
    """The cells with their words; apart where a row stands above the one before it, in the next column.

    A header that is repeated there is drawn several times, but tagged once.
    """
    drawn = [
        _instances([word for tag in cell.content for word in by_tag.get(tag, ())]) for cell in cells
    ]
    heads = [
        (cell, words)
        for cell, words in zip(cells, drawn, strict=True)
        if cell.header and len(words) > 1
    ]
    parts: list[list[_Filled]] = [[]]
    low: float | None = None
    row = -1
    for cell, instances in zip(cells, drawn, strict=True):
        words = instances[0]
        top = max((word.top for word in words), default=None)
        if cell.row != row and top is not None and low is not None and top > low + words[0].size:
            parts.append(
                [(head, copies[n]) for head, copies in heads if (n := len(parts)) < len(copies)]
            )
            low = None
        row = cell.row
        parts[-1].append((cell, words))
        if words:
            bottom = min(word.bottom for word in words)
            low = bottom if low is None else min(low, bottom)
    return parts


def _instances(words: Sequence[Word]) -> list[list[Word]]:
    """The words of a cell, apart where they begin again higher on the page."""
    found: list[list[Word]] = [[]]
    for word in words:
        if found[-1] and word.bottom > found[-1][-1].top + word.size:
            found.append([])
        found[-1].append(word)
    return found


def _table(cells: Sequence[_Filled]) -> PdfTable | None:
    grid: list[TableCell] = []
    taken: set[tuple[int, int]] = set()
    for cell, words in cells:
        column = 0
        while (cell.row, column) in taken:
            column += 1
        taken.update(
            (cell.row + r, column + c) for r in range(cell.rows) for c in range(cell.columns)
        )
        grid.append(TableCell(cell.row, column, cell.rows, cell.columns, cell_text(words)))
    own = [word for _, words in cells for word in words]
    grid = without_empty(grid)
    if not own or not grid or max(cell.column for cell in grid) < 1:
        return None
    if len({cell.row for cell in grid}) > 1 and not is_data_table(grid):
        return None
    first = cells[0][0].row
    header = 0
    while header < 3 and (row := [cell for cell, _ in cells if cell.row == first + header]):
        if not all(cell.header for cell in row):
            break
        header += 1
    return PdfTable(_box(own), tuple(grid), header)


def _box(words: Sequence[Word]) -> Box:
    return Box(
        min(word.left for word in words),
        min(word.bottom for word in words),
        max(word.right for word in words),
        max(word.top for word in words),
    )
