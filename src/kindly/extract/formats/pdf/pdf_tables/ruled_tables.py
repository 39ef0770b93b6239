"""Tables whose cells are separated by lines: the grid of the lines, and cells that span several fields. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from kindly.extract.formats.pdf.pdf_lines import Box, runs_right_to_left
from kindly.extract.formats.pdf.pdf_tables.drawings import Rule, Rules
from kindly.extract.formats.pdf.pdf_tables.table_grid import (
    PdfTable,
    TableCell,
    cell_text,
    is_data_table,
    mirrored,
    with_units,
    without_empty,
)
from kindly.extract.formats.pdf.pdf_words import Word

NEAR = 2.5
"""Lines that are closer than this are one line."""
TOUCH = 4.0
"""Lines that come as close as this meet."""
MAX_CROSSINGS = 60_000
MAX_FIELDS = 4_000
CROSSING_SHARE = 0.1


def ruled_tables(rules: Rules, words: Sequence[Word]) -> list[PdfTable]:
    """The tables that lines enclose."""
    across, down = merged(rules.across), merged(rules.down)
    if not down or len(across) * len(down) > MAX_CROSSINGS:
        return []
    found: list[PdfTable] = []
    for own_across, own_down in _components(across, down):
        table = _table(own_across, own_down, rules.boxes, words)
        if table is not None:
            found.append(table)
    return [
        table
        for table in found
        if not any(
            other is not table and _inside(table.box, other.box) and other.box != table.box
            for other in found
        )
    ]


def merged(rules: Iterable[Rule], reach: float = TOUCH) -> list[Rule]:
    """Lines that continue or cover each other as one."""
    groups: list[list[Rule]] = []
    for rule in sorted(rules):
        if groups and rule.at - groups[-1][-1].at <= NEAR and rule.at - groups[-1][0].at <= TOUCH:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    found: list[Rule] = []
    for group in groups:
        at = sum(rule.at for rule in group) / len(group)
        start = end = None
        for rule in sorted(group, key=lambda rule: rule.start):
            if end is None or start is None or rule.start > end + reach:
                if start is not None and end is not None:
                    found.append(Rule(at, start, end))
                start, end = rule.start, rule.end
            else:
                end = max(end, rule.end)
        if start is not None and end is not None:
            found.append(Rule(at, start, end))
    return found


def _components(across: list[Rule], down: list[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Groups of lines that meet."""
    parent = list(range(len(across) + len(down)))

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for n, flat in enumerate(across):
        for m, steep in enumerate(down):
            if (
                flat.start - TOUCH <= steep.at <= flat.end + TOUCH
                and steep.start - TOUCH <= flat.at <= steep.end + TOUCH
            ):
                parent[root(n)] = root(len(across) + m)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for n, flat in enumerate(across):
        groups[root(n)][0].append(flat)
    for m, steep in enumerate(down):
        groups[root(len(across) + m)][1].append(steep)
    return [group for group in groups.values() if len(group[0]) >= 2 and group[1]]


def _table(
    across: list[Rule], down: list[Rule], boxes: Sequence[Box], words: Sequence[Word]
) -> PdfTable | None:
    left = min(rule.start for rule in across)
    right = max(rule.end for rule in across)
    bottom = min(*(rule.start for rule in down), *(rule.at for rule in across))
    top = max(*(rule.end for rule in down), *(rule.at for rule in across))
    left = min(left, *(rule.at for rule in down))
    right = max(right, *(rule.at for rule in down))
    higher = _with_header_box(Box(left, bottom, right, top), boxes, words)
    if higher > top:
        across = [*across, Rule(top, left, right)]
        down = [_raised(rule, top, higher, words) for rule in down]
        top = higher
    columns = _edges([rule.at for rule in down], left, right)
    rows = _edges(
        [rule.at for rule in across] + _box_edges(boxes, left, right, bottom, top), bottom, top
    )[::-1]
    if len(columns) < 3 or len(rows) < 3 or (len(columns) - 1) * (len(rows) - 1) > MAX_FIELDS:
        return None
    inside = [
        (n, word)
        for n, word in enumerate(words)
        if left <= (word.left + word.right) / 2 <= right
        and bottom <= (word.bottom + word.top) / 2 <= top
    ]
    if len(inside) < 3:
        return None
    grid = _Fields(columns, rows, across, down, [word for _, word in inside])
    cells = grid.cells()
    if cells is None:
        return None
    cells = with_units(without_empty(cells))
    if not is_data_table(cells):
        return None
    if runs_right_to_left(" ".join(cell.text for cell in cells)):
        cells = mirrored(cells)
    header = _header_rows(cells)
    return PdfTable(Box(left, bottom, right, top), tuple(cells), header, inside[0][0])


def _with_header_box(box: Box, boxes: Sequence[Box], words: Sequence[Word]) -> float:
    """The upper edge of a grid, with the filled boxes of a header directly above it."""
    for other in boxes:
        if (
            abs(other.bottom - box.top) <= TOUCH
            and other.left >= box.left - TOUCH
            and other.right <= box.right + TOUCH
            and other.height <= 80
            and any(
                other.holds((word.left + word.right) / 2, (word.bottom + word.top) / 2)
                for word in words
            )
        ):
            return other.top
    return box.top


def _raised(rule: Rule, top: float, higher: float, words: Sequence[Word]) -> Rule:
    """A vertical line that ends at the top of a grid, up to the top of its header, unless it would cut a word there."""
    if abs(rule.end - top) > TOUCH or any(
        word.left + 2 < rule.at < word.right - 2 and top < (word.bottom + word.top) / 2 < higher
        for word in words
    ):
        return rule
    return Rule(rule.at, rule.start, higher)


def _box_edges(
    boxes: Sequence[Box], left: float, right: float, bottom: float, top: float
) -> list[float]:
    """The lower edges of filled boxes that reach over the whole width."""
    return [
        box.bottom
        for box in boxes
        if abs(box.left - left) <= TOUCH
        and abs(box.right - right) <= TOUCH
        and bottom + TOUCH < box.bottom < top - TOUCH
        and box.height < 0.5 * (top - bottom)
    ]


def _edges(found: Iterable[float], low: float, high: float) -> list[float]:
    """The places of the lines in rising order, the outer edges included."""
    edges: list[float] = []
    for at in sorted((*found, low, high)):
        if not edges or at - edges[-1] > TOUCH:
            edges.append(at)
    return edges


class _Fields:
    """The fields of a grid; fields without a line between them are one cell."""

    def __init__(
        self,
        columns: list[float],
        rows: list[float],
        across: list[Rule],
        down: list[Rule],
        words: list[Word],
    ) -> None:
        self._columns, self._rows, self._words = columns, rows, words
        self._width, self._height = len(columns) - 1, len(rows) - 1
        self._has_right = self._borders(columns, rows, down)
        self._has_below = self._borders(rows, columns, across)

    @staticmethod
    def _borders(
        edges: list[float], others: list[float], rules: list[Rule]
    ) -> set[tuple[int, int]]:
        """Pairs of an edge and a field beside it along which a line is drawn."""
        found: set[tuple[int, int]] = set()
        for n, edge in enumerate(edges):
            near = [rule for rule in rules if abs(rule.at - edge) <= TOUCH]
            for m, (one, other) in enumerate(pairwise(others)):
                middle = (one + other) / 2
                if any(rule.start - 1 <= middle <= rule.end + 1 for rule in near):
                    found.add((n, m))
        return found

    def cells(self) -> list[TableCell] | None:
        """The cells, or None if text runs across the lines."""
        if self._crossings() > CROSSING_SHARE * len(self._words):
            return None
        owner = self._owners()
        content: dict[tuple[int, int], list[Word]] = defaultdict(list)
        for word in self._words:
            field = self._field((word.left + word.right) / 2, (word.bottom + word.top) / 2)
            content[owner[field]].append(word)
        extent: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for field, first in owner.items():
            extent[first].append(field)
        return [
            TableCell(
                *first,
                max(row for row, _ in fields) - first[0] + 1,
                max(column for _, column in fields) - first[1] + 1,
                cell_text(content[first]),
            )
            for first, fields in sorted(extent.items())
        ]

    def _crossings(self) -> int:
        """How many words a vertical line cuts."""
        count = 0
        for word in self._words:
            row = self._row((word.bottom + word.top) / 2)
            count += any(
                word.left + 2 < edge < word.right - 2 and (n, row) in self._has_right
                for n, edge in enumerate(self._columns)
            )
        return count

    def _owners(self) -> dict[tuple[int, int], tuple[int, int]]:
        """For each field, the first field of its cell. A cell is a rectangle: others are left as single fields."""
        owner: dict[tuple[int, int], tuple[int, int]] = {}
        for row in range(self._height):
            for column in range(self._width):
                if (row, column) in owner:
                    continue
                right = column
                while right + 1 < self._width and (right + 1, row) not in self._has_right:
                    right += 1
                low = row
                while (
                    low + 1 < self._height
                    and not any(
                        (low + 1, one) in self._has_below for one in range(column, right + 1)
                    )
                    and all(
                        (one, low + 1) not in self._has_right
                        for one in range(column + 1, right + 1)
                    )
                ):
                    low += 1
                for r in range(row, low + 1):
                    for c in range(column, right + 1):
                        owner.setdefault((r, c), (row, column))
        return owner

    def _field(self, x: float, y: float) -> tuple[int, int]:
        column = sum(edge < x for edge in self._columns[1:-1])
        return self._row(y), column

    def _row(self, y: float) -> int:
        return sum(edge > y for edge in self._rows[1:-1])


def _header_rows(cells: Sequence[TableCell]) -> int:
    first = [cell for cell in cells if cell.row == 0]
    count = max((cell.rows for cell in first if cell.text), default=1)
    total = max(cell.row + cell.rows for cell in cells)
    whole = len(first) == 1
    if count == 1 and not whole and any(cell.columns > 1 and cell.text for cell in first):
        count = 2
    return min(count, 3, max(1, total - 1))


def _inside(one: Box, other: Box) -> bool:
    return (
        other.left - 1 <= one.left
        and one.right <= other.right + 1
        and other.bottom - 1 <= one.bottom
        and one.top <= other.top + 1
    )
