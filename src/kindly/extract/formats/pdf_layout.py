"""PDF layout analysis: positioned lines → headings, paragraphs and lists in reading order. Pure.

A file may draw its text in any order. The drawing order is kept unless it jumps back up over earlier text; then a
recursive XY-cut finds the columns.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kindly.extract.formats.html_fragment import heading, paragraph

HEADING_RATIO = 1.15
HEADING_CHARACTERS = 200
HEADING_LEVELS = 4
LINE_GAP = 1.75
FULL_LINE_SHARE = 0.85
RUNNING_PAGES = 4
RUNNING_SHARE = 0.6
BULLET = re.compile(r"[•◦▪■‣●○∙·–*-]\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; coordinates grow to the right and upwards."""

    text: str
    left: float
    right: float
    bottom: float
    size: float
    broken_word: bool = False
    """Whether its last word continues on the next line."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The font size of body text, and those of headings."""

    body: float
    headings: tuple[float, ...]

    def level(self, line: Line) -> int:
        """The heading level of a line of this size, or 0 for body text."""
        size = _rounded(line.size)
        if size not in self.headings:
            return 0
        return min(self.headings.index(size) + 1, HEADING_LEVELS)


def sizes(pages: Sequence[Sequence[Line]]) -> Sizes:
    """The most common font size, and the larger ones, largest first."""
    counted: Counter[float] = Counter()
    for page in pages:
        for line in page:
            counted[_rounded(line.size)] += len(line.text)
    body = max(counted, key=lambda size: counted[size], default=0.0)
    larger = sorted((size for size in counted if size >= HEADING_RATIO * body), reverse=True)
    return Sizes(body, tuple(larger))


def without_running_headers(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without running headers and footers, which most pages share."""
    edges = Counter(
        key for page in pages for key in {_pattern(line) for line in (*page[:1], *page[-1:])}
    )
    least = max(RUNNING_PAGES, RUNNING_SHARE * len(pages))
    running = {key for key, count in edges.items() if count >= least}
    if not running:
        return [list(page) for page in pages]
    return [
        [
            line
            for n, line in enumerate(page)
            if n not in (0, len(page) - 1) or _pattern(line) not in running
        ]
        for page in pages
    ]


def page_markup(lines: Sequence[Line], scale: Sizes) -> str:
    """The markup of one page."""
    parts: list[str] = []
    for block in reading_order(blocks(lines)):
        edge = max(line.right for line in block)
        parts += [_markup(group, edge, scale) for group in paragraphs(block)]
    return "".join(parts).replace("</ul><ul>", "")


def blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Runs of lines in descending order on the page."""
    found: list[list[Line]] = []
    for line in lines:
        if found and line.bottom <= found[-1][-1].bottom + line.size / 2:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def reading_order(found: Sequence[list[Line]]) -> list[list[Line]]:
    """The blocks in reading order: as drawn, unless one is drawn after a block below it."""
    jumps_back = any(
        _overlap(before, after) and _top(after) > _top(before) for before, after in pairwise(found)
    )
    return _xy_cut(list(found)) if jumps_back else list(found)


def paragraphs(block: Sequence[Line]) -> list[list[Line]]:
    """The paragraphs of a block: groups of lines."""
    groups: list[list[Line]] = []
    for line in block:
        if groups and _continues(groups[-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _xy_cut(found: list[list[Line]]) -> list[list[Line]]:
    """Recursive XY-cut: split at a vertical gap (columns, left to right) or a horizontal one (top to bottom)."""
    if len(found) < 2:
        return found
    across = sorted(found, key=_left)
    for n in range(1, len(across)):
        if max(map(_right, across[:n])) <= _left(across[n]):
            return _xy_cut(across[:n]) + _xy_cut(across[n:])
    down = sorted(found, key=_top, reverse=True)
    for n in range(1, len(down)):
        if min(map(_bottom, down[:n])) >= _top(down[n]):
            return _xy_cut(down[:n]) + _xy_cut(down[n:])
    return down


def _continues(group: Sequence[Line], line: Line) -> bool:
    last = group[-1]
    if last.broken_word:
        return True
    apart = last.bottom - line.bottom
    if _rounded(last.size) != _rounded(line.size) or not 0 < apart <= LINE_GAP * line.size:
        return False
    if BULLET.match(line.text):
        return False
    indented = line.left > last.left + 0.9 * line.size
    return not indented or BULLET.match(group[0].text) is not None


def _markup(group: Sequence[Line], edge: float, scale: Sizes) -> str:
    level = scale.level(group[0])
    text = _joined(group, edge)
    if level and len(text) <= HEADING_CHARACTERS:
        return heading(text, level)
    if mark := BULLET.match(text):
        return f"<ul><li>{paragraph(text[mark.end() :])[3:-4]}</li></ul>"
    return paragraph(text)


def _joined(group: Sequence[Line], edge: float) -> str:
    """The text of a paragraph; a line that ends well before the edge keeps its line break."""
    pieces: list[str] = []
    for line in group:
        pieces.append(line.text)
        if not line.broken_word:
            full = line.right - line.left >= FULL_LINE_SHARE * (edge - line.left)
            pieces.append(" " if full else "\n")
    return "".join(pieces).strip()


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _pattern(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text.strip())


def _left(block: Sequence[Line]) -> float:
    return min(line.left for line in block)


def _right(block: Sequence[Line]) -> float:
    return max(line.right for line in block)


def _top(block: Sequence[Line]) -> float:
    return max(line.bottom + line.size * 0.7 for line in block)


def _bottom(block: Sequence[Line]) -> float:
    return min(line.bottom for line in block)


def _overlap(before: Sequence[Line], after: Sequence[Line]) -> bool:
    return _left(before) < _right(after) and _left(after) < _right(before)
