"""Running heads, footers, page numbers and stamps in the margin, which are not part of the text. Pure.

What several pages repeat at the same place is one of them. On a single page, so is a line at the edge that stands
apart and says what such lines say: a page number, a date of download, an address.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kindly.extract.formats.pdf.pdf_lines import Box, Line

EDGE_SHARE = 0.13
"""The part of the page's height at each end where running heads are."""
OUTER_SHARE = 0.075
EDGE_ROWS = 3
SAME_PLACE = 4.0
REPEATS = 3
FEW_PAGES = 5
APART = 1.35
"""A running head stands apart by more than this, in font sizes."""
SMALL = 0.93
MAX_CHARACTERS = 160
NUMBER = re.compile(
    r"[\W_]*(?:page|p\.|seite|pág\.|стр\.)?\s*(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von|de)\s*\d{1,4})?[\W_]*",
    re.I,
)
FURNITURE = re.compile(
    r"\bdownload(?:ed)?\b|https?://|\bwww\.|©|\bcopyright\b|all rights reserved|\bissn\b|\bdoi\b|\bvol(?:ume|\.)"
    r"|\brev(?:ision|\.)?[:\s]\s*\d|\bpublished by\b|\bet al\.?:|\barxiv:|\bpreprint\b|\bpage \d|\bconfidential\b"
    r"|open access|table of contents\Z|\b(?:19|20)\d\d\s*\|",
    re.I,
)
DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b")


@dataclass(frozen=True, eq=False)
class EdgeRow:
    """The lines side by side in one row near the top or bottom of a page."""

    lines: tuple[Line, ...]
    at_top: bool
    outermost: bool
    distance: float
    """How far the next row is, in font sizes."""
    next_pieces: int = 0
    """How many lines the next row has."""

    @property
    def text(self) -> str:
        """The text of all its lines."""
        return " ".join(line.text for line in self.lines)


def running_lines(pages: Sequence[tuple[Sequence[Line], Box]], body: float) -> set[Line]:
    """The lines that are not part of the text; `body` is the font size of the text."""
    rows = [_edge_rows(lines, box) for lines, box in pages]
    found: set[Line] = set()
    for line in _repeated(rows, len(pages)):
        found.add(line)
    for page_rows, (lines, box) in zip(rows, pages, strict=True):
        for at_top in (True, False):
            own = [row for row in page_rows if row.at_top is at_top]
            for n, row in enumerate(own):
                earlier = all(line in found for before in own[:n] for line in before.lines)
                if not earlier:
                    break
                if all(line in found for line in row.lines):
                    continue
                if _is_furniture(row, box, body, len(lines)):
                    found.update(row.lines)
    for lines, _ in pages:
        if found.issuperset(lines):
            found.difference_update(lines)
    return found


def _edge_rows(lines: Sequence[Line], box: Box) -> list[EdgeRow]:
    """The outermost rows at both ends of a page, from the edge inwards."""
    upright = [line for line in lines if not line.words[0].turned]
    if not upright:
        return []
    found: list[EdgeRow] = []
    for at_top in (True, False):
        ordered = sorted(upright, key=lambda line: -line.top if at_top else line.bottom)
        rows: list[list[Line]] = []
        for line in ordered:
            if rows and _beside(rows[-1][0], line):
                rows[-1].append(line)
            elif len(rows) > EDGE_ROWS:
                break
            else:
                rows.append([line])
        for n, row in enumerate(rows[:EDGE_ROWS]):
            share = (box.top - row[0].bottom if at_top else row[0].top - box.bottom) / max(
                box.height, 1
            )
            following = rows[n + 1] if n + 1 < len(rows) else []
            distance = _distance(row, following, at_top=at_top)
            lone = n == 0 and len(row) == 1 and distance > 1.5 and NUMBER.fullmatch(row[0].text)
            if share > EDGE_SHARE and not lone:
                break
            found.append(EdgeRow(tuple(row), at_top, n == 0, distance, len(following)))
    return found


def _beside(one: Line, other: Line) -> bool:
    common = min(one.top, other.top) - max(one.bottom, other.bottom)
    return common > 0.4 * min(one.top - one.bottom, other.top - other.bottom)


def _distance(row: Sequence[Line], following: Sequence[Line], *, at_top: bool) -> float:
    if not following:
        return 99.0
    size = max(line.size for line in row) or 1.0
    if at_top:
        apart = min(line.bottom for line in row) - max(line.top for line in following)
    else:
        apart = min(line.bottom for line in following) - max(line.top for line in row)
    return apart / size


def _repeated(rows: Sequence[Sequence[EdgeRow]], pages: int) -> list[Line]:
    """Lines that several pages have at the same place, page numbers aside."""
    places: dict[tuple[str, bool], list[tuple[int, Line]]] = defaultdict(list)
    numbers: list[tuple[int, Line]] = []
    for number, page_rows in enumerate(rows):
        for row in page_rows:
            for line in row.lines:
                key = DIGITS.sub("#", line.text.strip().lower())
                if NUMBER.fullmatch(line.text):
                    numbers.append((number, line))
                elif len(line.text) <= MAX_CHARACTERS:
                    places[key, row.at_top].append((number, line))
    least = 2 if pages <= FEW_PAGES else REPEATS
    found: list[Line] = []
    for same in places.values():
        counted = Counter(number for number, _ in same)
        if len(counted) >= least and _same_height([line for _, line in same]):
            found += [line for _, line in same]
    if len({number for number, _ in numbers}) >= 2:
        found += [line for _, line in numbers]
    return found


def _same_height(lines: Sequence[Line]) -> bool:
    heights = Counter(round(line.bottom / SAME_PLACE) for line in lines)
    (_, most) = heights.most_common(1)[0]
    return most * 2 >= len(lines)


def _is_furniture(row: EdgeRow, box: Box, body: float, total: int) -> bool:
    """Whether a row at the edge of a single page is no part of the text."""
    text = row.text.strip()
    if len(text) > MAX_CHARACTERS or total < 2:
        return False
    if not any(map(str.isalnum, text)) or all(NUMBER.fullmatch(one.text) for one in row.lines):
        return row.distance >= 0.5
    size = max(line.size for line in row.lines)
    if size > (1.5 if len(row.lines) > 1 else 1.15) * body:
        return False
    spread = (
        len(row.lines) == 3
        and row.next_pieces == 1
        and max(len(line.text) for line in row.lines) < 40
    )
    if (spread or _has_number_at_an_end(row)) and row.distance > -0.3:
        return True
    near = row.lines[0]
    apart = box.top - near.bottom if row.at_top else near.top - box.bottom
    outer = apart < OUTER_SHARE * box.height
    if FURNITURE.search(text):
        return row.distance > (0.15 if outer else APART)
    lonely = row.distance > 2.5 or (row.distance >= APART and size <= SMALL * body)
    return outer and lonely and len(text) < 100 and text[-1:] not in ".?!:"


def _has_number_at_an_end(row: EdgeRow) -> bool:
    """Whether a page number stands alone at the left or right end of a row with other text."""
    if not 2 <= len(row.lines) <= 4 or sum(len(line.text) for line in row.lines) > 120:
        return False
    ordered = sorted(row.lines, key=lambda line: line.left)
    return any(NUMBER.fullmatch(line.text) is not None for line in (ordered[0], ordered[-1]))


def is_margin_stamp(line: Line, box: Box) -> bool:
    """Whether turned text stands in the margin, such as the stamp of an archive."""
    if not line.words[0].turned % 2:
        return False
    middle = (line.left + line.right) / 2
    share = (middle - box.left) / max(box.width, 1)
    return share < 0.09 or share > 0.91
