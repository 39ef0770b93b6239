"""Tables → plain grids for Markdown: no spans, no empty rows or columns, captions above. The tree is changed in place.

Layout tables become boxes. The first cell of a row is repeated if it spans several rows, so that each row is complete.
"""

from turbohtml import Element, Node

MAX_SPAN = 100
MAX_CELLS = 20_000
REPEATED_CHARACTERS = 60
PROSE_CHARACTERS = 700
"""A table with more text per cell than this, on average, is a layout table."""
CELLS = frozenset({"td", "th"})
PARTS = CELLS | {"tr", "tbody", "thead", "tfoot", "caption"}
HEADINGS = "h1, h2, h3, h4, h5, h6"

Grid = list[list[Element | None]]


def normalise_tables(root: Element) -> None:
    """Turn every data table into a plain grid and every layout table into boxes."""
    for table in root.select("table"):
        if table.closest("pre") is not None:
            continue
        rows = _own_rows(table)
        if _is_layout(table, rows):
            _unwrap(table)
        else:
            _move_titles_above(table, rows)
            _normalise(table, rows)


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
        return (
            widest == 0 or table.select_one("th, h1, h2, h3, h4, h5, h6") is None or len(rows) == 1
        )
    cells = sum(len(row) for row in rows)
    if table.select_one("th, thead") is not None:
        return False
    return len(table.text) > PROSE_CHARACTERS * cells or (
        table.select_one("h1, h2, h3") is not None and not _has_even_rows(rows)
    )


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
    spanned = table.select_one("[rowspan], [colspan]") is not None
    empty = any(not _has_content(cell) for row in rows for cell in row)
    if not spanned and not empty:
        return
    grid = _grid(rows) if spanned else [list(row) for row in rows]
    if grid is None:
        for each in (cell for row in rows for cell in row):
            _plain(each)
        return
    kept_rows = [
        row for row in grid if any(cell is not None and _has_content(cell) for cell in row)
    ]
    width = max((len(row) for row in kept_rows), default=0)
    for row in kept_rows:
        row += [None] * (width - len(row))
    columns = [
        n
        for n in range(width)
        if any((cell := row[n]) is not None and _has_content(cell) for row in kept_rows)
    ]
    _rebuild(table, [[row[n] for n in columns] for row in kept_rows])


def _has_content(cell: Element) -> bool:
    return bool(cell.text.strip()) or cell.select_one("img") is not None


def _grid(rows: list[list[Element]]) -> Grid | None:
    """The cells in the columns where a browser puts them; None if the table is too large."""
    grid: Grid = []
    rowspans: dict[int, tuple[int, Element]] = {}
    placed = 0
    for row in rows:
        line: list[Element | None] = []
        cells = iter(row)
        cell = next(cells, None)
        leading = True
        while cell is not None or len(line) in rowspans:
            column = len(line)
            if column in rowspans:
                line.append(_spanning_cell(rowspans, column, leading=leading))
                continue
            if cell is None:
                break
            leading = False
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for n in range(width):
                if height > 1:
                    rowspans[column + n] = (height - 1, cell if n == 0 else Element("td"))
            line += [cell, *[None] * (width - 1)]
            cell = next(cells, None)
        placed += len(line)
        if placed > MAX_CELLS:
            return None
        grid.append(line)
    return grid


def _spanning_cell(
    rowspans: dict[int, tuple[int, Element]], column: int, *, leading: bool
) -> Element | None:
    """What a cell that spans rows shows in this row: its copy if it is the first and short, else nothing."""
    left, cell = rowspans.pop(column)
    if left > 1:
        rowspans[column] = (left - 1, cell)
    text = cell.text.strip()
    if not leading or not text or len(text) > REPEATED_CHARACTERS:
        return None
    repeated = Element("td")
    repeated.set_inner_html(cell.inner_html)
    return repeated


def _span(cell: Element, name: str) -> int:
    value = (cell.attr(name) or "").strip()
    return max(1, min(int(value), MAX_SPAN)) if value.isascii() and value.isdigit() else 1


def _rebuild(table: Element, grid: Grid) -> None:
    table.clear()
    body = Element("tbody")
    for line in grid:
        row = Element("tr")
        for cell in line:
            row.append(_plain(cell))
        body.append(row)
    table.append(body)


def _plain(cell: Element | None) -> Node:
    if cell is None:
        return Element("td")
    for name in ("rowspan", "colspan"):
        if name in cell.attrs:
            del cell.attrs[name]
    return cell
