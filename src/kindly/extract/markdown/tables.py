"""Tables → plain grids for Markdown (`table_grid`), captions above. The tree is changed in place.

Layout tables become boxes.
"""

import re

from turbohtml import Element, Text

from kindly.extract.markdown import VERBATIM_TAG
from kindly.extract.markdown.cell_lines import join_lines
from kindly.extract.markdown.table_grid import Entry, GridCell, plain_grid

MAX_SPAN = 100
MARKS = re.compile(r"(?:\[\^?\w{1,4}\]\s*)+")
SORT_KEYS = ".sortkey"
"""Text that only sorts a column; the stylesheet of MediaWiki hides it."""
PROSE_CHARACTERS = 700
PROSE_SHARE = 0.5
MAX_ROWS_OF_PROSE = 3
"""A table without headers is a layout table if more of its text than this is in cells with so many characters, and if
at least one of so many rows has such a cell."""
MIN_ROWS_WITH_TITLE = 3
"""Title, header and a row of values."""
DATA_FILE = "data-file"
"""Attribute of a table from a data file: every named column is kept, even if it is empty."""
CELLS = frozenset({"td", "th"})
PARTS = CELLS | {"tr", "tbody", "thead", "tfoot", "caption"}
HEADINGS = "h1, h2, h3, h4, h5, h6"
TEXT_BLOCKS = "p, ul, ol, dl, blockquote, div, br"
LEAST_WORDS_BELOW = 5
"""So many words below a heading in its cell make a section of it."""


def normalise_tables(root: Element) -> None:
    """Turn every data table into a plain grid and every layout table into boxes."""
    for table in root.select("table"):
        if table.tag != "table" or table.closest("pre") is not None:
            continue
        rows = _own_rows(table)
        _unwrap_title(rows)
        if _is_layout(table, rows):
            _unwrap(table)
        else:
            table.remove(SORT_KEYS)
            _move_titles_above(table, rows)
            _normalise(table, rows)


def _unwrap_title(rows: list[list[Element]]) -> None:
    """Turn the tables that only lay out the title of a table with a header into boxes."""
    if len(rows) < MIN_ROWS_WITH_TITLE or len(rows[0]) != 1:
        return
    header = [cell.tag == "th" for cell in rows[1]]
    if len(header) > 1 and all(header):
        for nested in rows[0][0].select("table"):
            _unwrap(nested)


def _own_rows(table: Element) -> list[list[Element]]:
    """The cells of each row, without those of nested tables."""
    rows: list[list[Element]] = []
    for part in table.children:
        if not isinstance(part, Element):
            continue
        if part.tag == "tr":
            rows.append(_cells(part))
        elif part.tag in ("thead", "tbody", "tfoot"):
            rows += [
                _cells(row) for row in part.children if isinstance(row, Element) and row.tag == "tr"
            ]
    return rows


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in CELLS]


def _is_layout(table: Element, rows: list[list[Element]]) -> bool:
    if table.attr("role") in ("presentation", "none"):
        return True
    if table.select_one("table, pre") is not None:
        return True
    widest = max((len(row) for row in rows), default=0)
    if widest <= 1:
        return widest == 0 or table.select_one("th") is None or len(rows) == 1
    if table.select_one("th, thead") is not None:
        return False
    return _is_prose(table, rows) or _holds_sections(table, rows)


def _holds_sections(table: Element, rows: list[list[Element]]) -> bool:
    """Whether the cells have headings with text below them, or headings stand in rows of different lengths."""
    headings = table.select(HEADINGS)
    if not headings:
        return False
    if not _has_even_rows(rows) and table.select_one("h1, h2, h3") is not None:
        return True
    cells = {heading.closest("td"): heading for heading in headings}
    return any(
        cell is not None and _has_more_than(cell, heading) for cell, heading in cells.items()
    )


def _has_more_than(cell: Element, heading: Element) -> bool:
    """Whether a cell has a block of text below its heading."""
    if len(cell.text.split()) < len(heading.text.split()) + LEAST_WORDS_BELOW:
        return False
    return cell.select_one(TEXT_BLOCKS) is not None


def _is_prose(table: Element, rows: list[list[Element]]) -> bool:
    """Whether the cells, or those with most of the text in rows of several cells, are too long for a data table."""
    size = len(table.text)
    if size <= PROSE_CHARACTERS:
        return False
    if size > PROSE_CHARACTERS * sum(map(len, rows)):
        return True
    sizes = [[len(cell.text) for cell in row] for row in rows if len(row) > 1]
    prose = [sum(n for n in row if n > PROSE_CHARACTERS) for row in sizes]
    few = sum(map(bool, prose)) * MAX_ROWS_OF_PROSE < len(sizes)
    return not few and sum(prose) > PROSE_SHARE * sum(map(sum, sizes))


def _has_even_rows(rows: list[list[Element]]) -> bool:
    """Whether all rows have about the same length, as in a data table."""
    lengths = [len(row) for row in rows if row]
    return len(lengths) > 2 and max(lengths) - min(lengths) <= 1


def _unwrap(table: Element) -> None:
    """Turn the table and its own parts into boxes; nested tables are handled separately."""
    parts = [table]
    while parts:
        part = parts.pop()
        part.tag = "div"
        parts += [
            child for child in part.children if isinstance(child, Element) and child.tag in PARTS
        ]


def _move_titles_above(table: Element, rows: list[list[Element]]) -> None:
    """Move a caption, or a heading over all columns, above the table; headings in cells become text."""
    caption = next(
        (
            child
            for child in table.children
            if isinstance(child, Element) and child.tag == "caption"
        ),
        None,
    )
    if caption is not None:
        moved = caption.extract()
        moved.tag = "p"
        table.insert_before(moved)
    if rows and len(rows[0]) == 1 and len(rows) > 1:
        heading = rows[0][0].select_one(HEADINGS)
        if heading is not None and heading.text.strip() == rows[0][0].text.strip():
            table.insert_before(heading.extract())
    table.strip_tags(HEADINGS)


def _normalise(table: Element, rows: list[list[Element]]) -> None:
    join_lines(table)
    cells = [[_grid_cell(cell) for cell in row] for row in rows]
    if _is_plain(cells) and table.select_one("[rowspan], [colspan]") is None:
        return
    grid = plain_grid(cells, whole=DATA_FILE in table.attrs)
    if grid is None:
        _make_even(rows)
        return
    if grid.title is not None:
        table.insert_before(_renamed(grid.title, "p"))
    table.clear()
    body = Element("tbody")
    body.append(_row(grid.header, "th"))
    body.extend([_row(line, "td") for line in grid.rows])
    table.append(body)


def _make_even(rows: list[list[Element]]) -> None:
    """Give all rows of a table that is too large for a grid the same number of cells."""
    width = max(map(len, rows))
    for row in rows:
        for cell in row:
            _without_spans(cell)
        for _ in range(width - len(row)):
            row[-1].insert_after(Element("td"))


def _grid_cell(cell: Element) -> GridCell[Element]:
    text = cell.text.strip() or ("image" if cell.select_one("img") is not None else "")
    return GridCell(
        cell,
        text,
        _span(cell, "rowspan"),
        _span(cell, "colspan"),
        header=cell.tag == "th" or _is_in_head(cell),
        mark=text.startswith("[") and MARKS.fullmatch(text) is not None,
    )


def _is_in_head(cell: Element) -> bool:
    row = cell.parent
    part = row.parent if row is not None else None
    return isinstance(part, Element) and part.tag == "thead"


def _is_plain(rows: list[list[GridCell[Element]]]) -> bool:
    """Whether the table is a plain grid already."""
    if len(set(map(len, rows))) > 1 or any(
        not cell.text or cell.rows > 1 or cell.columns > 1 or cell.mark
        for row in rows
        for cell in row
    ):
        return False
    return len(rows) < 2 or not all(cell.header for cell in rows[1])


def _span(cell: Element, name: str) -> int:
    value = (cell.attr(name) or "").strip()
    return max(1, min(int(value), MAX_SPAN)) if value.isascii() and value.isdigit() else 1


def _row(entries: list[Entry[Element]], tag: str) -> Element:
    return Element("tr", children=[_cell(entry, tag) for entry in entries])


def _cell(entry: Entry[Element], tag: str) -> Element:
    if len(entry) == 1 and not entry[0].copy:
        return _without_spans(_renamed(entry[0].content, tag))
    cell = Element(tag)
    for part in entry:
        copied = Element(tag)
        copied.set_inner_html(part.content.inner_html)
        if part.copy:
            copied.strip_tags("a")
            _remove_marks(copied)
        if cell.children and not MARKS.fullmatch(copied.text.strip()):
            cell.append(Text(" "))
        cell.extend(list(copied.children))
    return cell


def _remove_marks(copied: Element) -> None:
    for mark in copied.select(VERBATIM_TAG):
        if MARKS.fullmatch(mark.text):
            mark.decompose()


def _renamed(element: Element, tag: str) -> Element:
    element.tag = tag
    return element


def _without_spans(cell: Element) -> Element:
    for name in ("rowspan", "colspan"):
        if name in cell.attrs:
            del cell.attrs[name]
    return cell
