"""The reading order of lines and tables on a PDF page. Pure.

A file may draw its text in any order, but most draw it as it is read. So the drawing order is kept unless something is
drawn after what stands below it. Then the page is cut: at gutters into columns, which titles and wide tables may
cross, and from top to bottom.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Protocol, TypeVar

from kindly.extract.formats.pdf.pdf_lines import Line

MIN_GUTTER = 0.8
"""The width of a gutter in font sizes, at least."""
CROSSING_SHARE = 0.3
SIDE_SHARE = 0.12
MIN_SIDE = 2
STRIP_GAPS = (2.5, 1.5, 0.9, 0.4, 0.1)
"""The heights of horizontal gaps, in font sizes, at which a page is cut: wide ones first."""
MAX_DEPTH = 10
MAX_BLOCKS = 200
MAX_ITEMS = 800
"""A page with more pieces of text, such as a map, has no columns."""


class Placed(Protocol):
    """Something with a box on the page."""

    @property
    def left(self) -> float: ...
    @property
    def right(self) -> float: ...
    @property
    def top(self) -> float: ...
    @property
    def bottom(self) -> float: ...


Item = TypeVar("Item", bound=Placed)


def in_reading_order(items: Sequence[Item]) -> list[Item]:
    """The items as they are read; given in drawing order."""
    blocks = _blocks(items)
    return _cut(list(items), 0) if _jumps_back(blocks) else list(items)


def _blocks(items: Sequence[Item]) -> list[list[Item]]:
    """Runs of items in descending order on the page."""
    found: list[list[Item]] = []
    for item in items:
        if found and item.bottom <= found[-1][-1].bottom + _height(item) / 2:
            found[-1].append(item)
        else:
            found.append([item])
    return found


def _height(item: Placed) -> float:
    return item.size if isinstance(item, Line) else item.top - item.bottom


def _jumps_back(blocks: list[list[Item]]) -> bool:
    """Whether a block is drawn after one below it."""
    if len(blocks) > MAX_BLOCKS:
        return True
    boxes = [
        (
            min(item.left for item in block),
            max(item.right for item in block),
            max(item.top for item in block),
            min(item.bottom for item in block),
        )
        for block in blocks
    ]
    return any(
        one[0] < other[1] - 2 and other[0] < one[1] - 2 and other[2] > one[2] + 2
        for n, one in enumerate(boxes)
        for other in boxes[n + 1 :]
    )


def _cut(items: list[Item], depth: int) -> list[Item]:
    if len(items) < 2:
        return items
    gutter = _gutter(items) if depth < MAX_DEPTH else None
    if gutter is None:
        return _rows(items, depth)
    found: list[Item] = []
    for band, crosses in _bands(items, gutter):
        if crosses:
            found += _rows(band, depth)
            continue
        left = [item for item in band if item.left + item.right < 2 * gutter]
        right = [item for item in band if item.left + item.right >= 2 * gutter]
        found += _cut(left, depth + 1) + _cut(right, depth + 1)
    return found


def _rows(items: list[Item], depth: int) -> list[Item]:
    """From top to bottom; side by side from left to right. Strips that stand apart are cut on their own."""
    ordered = sorted(items, key=lambda item: (-item.top, item.left))
    size = median(item.size if isinstance(item, Line) else 10.0 for item in items)
    for apart in STRIP_GAPS:
        strips = _strips(ordered, apart * size)
        if len(strips) > 1:
            break
    else:
        return _by_row(ordered)
    joined: list[Item] = []
    for strip in strips:
        joined += (
            strip if len(strip) < 2 else (_cut(strip, depth + 1) if depth < MAX_DEPTH else strip)
        )
    return joined


def _strips(ordered: Sequence[Item], apart: float) -> list[list[Item]]:
    """Items between horizontal gaps."""
    strips: list[list[Item]] = []
    low = 0.0
    for item in ordered:
        if strips and item.top > low - apart:
            strips[-1].append(item)
            low = min(low, item.bottom)
        else:
            strips.append([item])
            low = item.bottom
    return strips


def _by_row(ordered: list[Item]) -> list[Item]:
    rows: list[list[Item]] = []
    for item in ordered:
        if rows and min(item.top, rows[-1][0].top) - max(
            item.bottom, rows[-1][0].bottom
        ) > 0.5 * min(item.top - item.bottom, rows[-1][0].top - rows[-1][0].bottom):
            rows[-1].append(item)
        else:
            rows.append([item])
    found: list[Item] = []
    for row in rows:
        backwards = _right_to_left(row)
        found += sorted(row, key=lambda item: item.left, reverse=backwards)
    return found


def _right_to_left(row: Sequence[Placed]) -> bool:
    """Whether a row has text from right to left, and none from left to right."""
    lines = [item for item in row if isinstance(item, Line)]
    return any(line.right_to_left for line in lines) and all(
        line.right_to_left or not any(map(str.isalpha, line.text)) for line in lines
    )


def _gutter(items: Sequence[Item]) -> float | None:
    """The middle of the best gutter, or None."""
    left, right = min(item.left for item in items), max(item.right for item in items)
    size = median(item.size if isinstance(item, Line) else 10.0 for item in items)
    if len(items) > MAX_ITEMS:
        return None
    edges = sorted({item.right for item in items} | {item.left for item in items})
    best: tuple[float, float] | None = None
    found: float | None = None
    for start, end in pairwise(edges):
        if end - start < MIN_GUTTER * size or start <= left or end >= right:
            continue
        middle = (start + end) / 2
        crossing = [item for item in items if item.left < middle < item.right]
        before = [item for item in items if item.right <= middle]
        after = [item for item in items if item.left >= middle]
        if min(len(before), len(after)) < max(MIN_SIDE, SIDE_SHARE * len(items)):
            continue
        if len(crossing) > CROSSING_SHARE * (len(before) + len(after)):
            continue
        if not _side_by_side(before, after):
            continue
        score = (-len(crossing), end - start)
        if best is None or score > best:
            best, found = score, middle
    return found


def _side_by_side(before: Sequence[Placed], after: Sequence[Placed]) -> bool:
    """Whether two columns stand next to each other for more than a line."""
    low = max(min(item.bottom for item in before), min(item.bottom for item in after))
    high = min(max(item.top for item in before), max(item.top for item in after))
    return high - low > 0


def _bands(items: Sequence[Item], gutter: float) -> list[tuple[list[Item], bool]]:
    """The items from top to bottom: those that cross the gutter, and those beside it between them."""
    crossing = sorted(
        (item for item in items if item.left < gutter - 1 and item.right > gutter + 1),
        key=lambda item: -item.top,
    )
    others = [item for item in items if not (item.left < gutter - 1 and item.right > gutter + 1)]
    found: list[tuple[list[Item], bool]] = []
    for item in crossing:
        middle = (item.top + item.bottom) / 2
        above = [other for other in others if (other.top + other.bottom) / 2 > middle]
        if above:
            found.append((above, False))
            others = [other for other in others if (other.top + other.bottom) / 2 <= middle]
        if found and found[-1][1]:
            found[-1][0].append(item)
        else:
            found.append(([item], True))
    if others:
        found.append((others, False))
    return found
