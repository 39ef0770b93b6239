"""Tables without vertical lines: rows of short texts that stand in columns, with or without rules. Pure.

A candidate is a run of lines, as drawn, most of which have several pieces side by side. Its columns are the bands that
no word crosses, apart from a few rows that span several columns.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from kindly.extract.formats.pdf.pdf_lines import Box, Line, gap, runs_right_to_left, same_row
from kindly.extract.formats.pdf.pdf_tables.cell_grid import (
    LEADER,
    PdfTable,
    TableCell,
    cell_text,
    mirrored,
    with_units,
    without_empty,
)
from kindly.extract.formats.pdf.pdf_tables.drawings import Rule, Rules
from kindly.extract.formats.pdf.pdf_tables.ruled_tables import merged
from kindly.extract.formats.pdf.pdf_words import Word

BAND_RULES = 5
CAPTION = re.compile(r"(?:table|figure|fig\.|tabelle|abbildung|tableau)\s*\d", re.I)
ROW_GAP = 3.5
"""Rows of a table are not farther apart than this, in font sizes."""
COLUMN_GAP = 0.45
RULE_REACH = 9.0
MIN_ROWS = 3
SPAN_SHARE = 0.2
PROSE_CHARACTERS = 45
FULL_SHARE = 0.8
SINGLES = 3
"""So many lines without a second column may follow each other inside a table."""
LIST_MARK = re.compile(
    r"(?:[^\w\s$%+\-−–(]{1,2}|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.):]|\(?\d{1,3}\)|\[\d+\])"
)
NUMBER = re.compile(r"[\s$€£(+\-−–]*\d[\d.,\s]*[%)kKMB]*|[-–—−]|n/?a|NA", re.I)
EQUATION = re.compile(r"[=∑∫√∂∈≤≥]")


class _Row:
    """Lines side by side, with what surrounds them all."""

    __slots__ = ("bottom", "first", "left", "lines", "right", "size", "top")

    def __init__(self, line: Line, first: int) -> None:
        """`first`: the place of its first line in drawing order."""
        self.lines = [line]
        self.first = first
        self.left, self.right = line.left, line.right
        self.bottom, self.top = line.bottom, line.top
        self.size = line.size

    def add(self, line: Line) -> None:
        """Add a line."""
        self.lines.append(line)
        self.left, self.right = min(self.left, line.left), max(self.right, line.right)
        self.bottom, self.top = min(self.bottom, line.bottom), max(self.top, line.top)
        self.size = max(self.size, line.size)

    @property
    def words(self) -> list[Word]:
        return [word for line in self.lines for word in line.words]


def aligned_tables(lines: Sequence[Line], rules: Rules) -> list[PdfTable]:
    """The tables among the lines of a page, which are in drawing order."""
    across = [rule for rule in merged(rules.across, RULE_REACH) if rule.end - rule.start >= 20]
    found: list[PdfTable] = []
    for rows in _candidates(_rows(lines), across):
        table = _table(rows, across)
        if table is not None:
            found.append(table)
    return found


def _rows(lines: Sequence[Line]) -> list[_Row]:
    """Lines that were drawn one after the other side by side."""
    rows: list[_Row] = []
    for n, line in enumerate(lines):
        if rows and _beside(rows[-1], line):
            rows[-1].add(line)
        else:
            rows.append(_Row(line, n))
    return _merged_rows(rows)


def _beside(row: _Row, line: Line) -> bool:
    last = row.lines[-1]
    if not same_row(last, line) or abs(last.bottom - line.bottom) > 0.5 * line.size:
        return False
    return all(line.left >= one.right - 1 or line.right <= one.left + 1 for one in row.lines)


def _merged_rows(rows: list[_Row]) -> list[_Row]:
    """Rows that were drawn in turns with their neighbours, such as cells of two lines, put together."""
    found: list[_Row] = []
    for row in rows:
        bottom, slack = row.bottom, 0.3 * row.size
        near = [
            other
            for other in found[-6:]
            if abs(other.bottom - bottom) <= slack
            and abs(other.size - row.size) < slack
            and all(
                line.left >= one.right - 1 or line.right <= one.left + 1
                for line in row.lines
                for one in other.lines
            )
            and _distance(other, row) < 25 * row.size
        ]
        if near and row.lines[0].size and len(found) - found.index(near[-1]) <= 6:
            for line in row.lines:
                near[-1].add(line)
        else:
            found.append(row)
    return found


def _distance(one: _Row, other: _Row) -> float:
    return max(other.left - one.right, one.left - other.right)


def _candidates(rows: list[_Row], across: list[Rule]) -> list[list[_Row]]:
    """Runs of rows of which most have several pieces, and what rules enclose."""
    found: list[list[_Row]] = []
    taken = 0
    n = 0
    while n < len(rows):
        if not _has_cells(rows[n]):
            n += 1
            continue
        run = [rows[n]]
        singles = 0
        m = n + 1
        while m < len(rows) and _follows(run, rows[m]):
            if CAPTION.match(rows[m].lines[0].text):
                break
            if _has_cells(rows[m]):
                singles = 0
            else:
                singles += 1
                if singles > SINGLES or not _fits(run, rows[m], across):
                    break
            run.append(rows[m])
            m += 1
        while not _has_cells(run[-1]) and not (_closed_below(run, across) or _ends_cell(run)):
            run.pop()
        before = _above(rows, taken, n, run, across)
        found.append([*before, *run])
        n = taken = n + len(run)
    return found


def _has_cells(row: _Row) -> bool:
    return len(row.lines) > 1


def _follows(run: list[_Row], row: _Row) -> bool:
    low = min(one.bottom for one in run[-4:])
    if row.top > max(one.top for one in run[-4:]) + 0.3 * row.size:
        return False
    left, right = min(one.left for one in run), max(one.right for one in run)
    if row.left > right or row.right < left:
        return False
    return low - row.top <= ROW_GAP * row.size


def _fits(run: list[_Row], row: _Row, across: list[Rule]) -> bool:
    """Whether a line with one piece can be a part of the table: shorter than the table, and not far below."""
    left, right = min(one.left for one in run), max(one.right for one in run)
    if row.left < left - 3 * row.size or row.right > right + 3 * row.size:
        return False
    apart = min(one.bottom for one in run[-2:]) - row.top
    enclosed = any(
        rule.at < row.bottom and rule.start < row.right and rule.end > row.left
        for rule in across
        if rule.at > row.bottom - 25 * row.size and rule.end - rule.start > 0.7 * (right - left)
    )
    if row.right - row.left > 0.75 * (right - left) and not enclosed:
        return False
    return apart <= (ROW_GAP if enclosed else 1.2) * row.size


def _closed_below(run: list[_Row], across: list[Rule]) -> bool:
    """Whether a rule ends the table below its last row."""
    left, right = min(one.left for one in run), max(one.right for one in run)
    low = run[-1].bottom
    return any(
        low - 2 * run[-1].size <= rule.at <= low + 1
        and rule.end - rule.start > 0.7 * (right - left)
        for rule in across
    )


def _ends_cell(run: list[_Row]) -> bool:
    """Whether the last line goes on with a cell, not the first, of the row above it."""
    row, before = run[-1], run[-2]
    apart = before.bottom - row.top
    return apart <= 0.6 * row.size and any(
        abs(line.left - row.left) < 3
        for line in sorted(before.lines, key=lambda line: line.left)[1:]
    )


def _above(rows: list[_Row], taken: int, n: int, run: list[_Row], across: list[Rule]) -> list[_Row]:
    """Lines of a header above the first row, up to the rule over it."""
    left, right = min(one.left for one in run), max(one.right for one in run)
    tops = [
        rule.at
        for rule in across
        if run[0].top - 2 <= rule.at <= run[0].top + 8 * run[0].size
        and rule.end - rule.start > 0.7 * (right - left)
        and rule.start < right
        and rule.end > left
    ]
    found: list[_Row] = []
    for row in reversed(rows[max(taken, n - 4) : n]):
        low = (found or run)[0]
        if row.bottom < low.bottom or row.bottom - low.top > 2.5 * row.size:
            break
        within = row.left >= left - row.size and row.right <= right + row.size
        under_rule = any(row.top <= top + 2 for top in tops)
        centred = row.left > left + 0.25 * (right - left) and row.right - row.left < 0.5 * (
            right - left
        )
        if not within or not (under_rule or centred) or len(row.lines[0].text) > 60:
            break
        found.insert(0, row)
    return found


def _table(rows: list[_Row], across: list[Rule]) -> PdfTable | None:
    several = [row for row in rows if _has_cells(row)]
    inner = _inner_rules(rows, across)
    if len(several) < (2 if inner else MIN_ROWS):
        return None
    if sum(line.mono for row in rows for line in row.lines) * 2 > sum(
        len(row.lines) for row in rows
    ):
        return None
    columns = _columns(rows)
    if len(columns) < 2:
        return None
    groups = _groups(rows, inner, columns)
    cells = _cells(groups, columns)
    cells = with_units(without_empty(cells))
    if not cells or not _is_table(cells, rows, ruled=bool(inner)):
        return None
    box = Box(
        min(row.left for row in rows),
        min(row.bottom for row in rows),
        max(row.right for row in rows),
        max(row.top for row in rows),
    )
    if runs_right_to_left(" ".join(cell.text for cell in cells)):
        cells = mirrored(cells)
    return PdfTable(
        box, tuple(cells), _header(cells, groups, inner), min(row.first for row in rows)
    )


def _inner_rules(rows: list[_Row], across: list[Rule]) -> list[float]:
    """The places of rules over most of the width, from top to bottom, the outer ones included."""
    left, right = min(row.left for row in rows), max(row.right for row in rows)
    top, bottom = max(row.top for row in rows), min(row.bottom for row in rows)
    size = rows[0].size
    return sorted(
        (
            rule.at
            for rule in across
            if bottom - 1.5 * size <= rule.at <= top + 1.5 * size
            and min(rule.end, right) - max(rule.start, left) > 0.7 * (right - left)
            and rule.end - rule.start < 1.6 * (right - left)
        ),
        reverse=True,
    )


def _columns(rows: list[_Row]) -> list[tuple[float, float]]:
    """The bands that words of the table fill, from left to right."""
    several = [row for row in rows if _has_cells(row)]
    sizes = median(row.size for row in rows)
    counted = several if len(several) >= MIN_ROWS else rows
    allowed = int(SPAN_SHARE * len(counted)) if len(counted) > 3 else 0
    edges: list[tuple[float, int]] = []
    for row in counted:
        for start, end in _filled(row, sizes):
            edges += [(start, 1), (end, -1)]
    edges.sort()
    bands: list[tuple[float, float]] = []
    depth = 0
    start = 0.0
    for at, step in edges:
        before = depth
        depth += step
        if before <= allowed < depth:
            start = at
        elif depth <= allowed < before:
            bands.append((start, at))
    merged_bands: list[tuple[float, float]] = []
    for band in bands:
        if merged_bands and band[0] - merged_bands[-1][1] < COLUMN_GAP * sizes:
            merged_bands[-1] = (merged_bands[-1][0], band[1])
        else:
            merged_bands.append(band)
    return merged_bands


def _filled(row: _Row, size: float) -> list[tuple[float, float]]:
    """The intervals of a row with words, spaces of usual width included."""
    found: list[tuple[float, float]] = []
    for word in sorted(row.words, key=lambda word: word.left):
        if found and word.left - found[-1][1] < COLUMN_GAP * size:
            found[-1] = (found[-1][0], max(found[-1][1], word.right))
        else:
            found.append((word.left, word.right))
    return found


def _groups(
    rows: list[_Row], inner: list[float], columns: list[tuple[float, float]]
) -> list[list[_Row]]:
    """The lines of each row of the table."""
    ordered = sorted(rows, key=lambda row: -row.bottom)
    bands = _banded(ordered, inner) if len(inner) >= BAND_RULES else []
    if len(bands) * 4 >= len(ordered) and not _has_whole_rows(bands, len(columns)):
        return bands
    pitches = [one.bottom - other.bottom for one, other in pairwise(ordered)]
    tight = min((pitch for pitch in pitches if pitch > 0.3 * ordered[0].size), default=0.0)
    wide = [pitch for pitch in pitches if pitch > 1.3 * tight]
    spaced = len(wide) * 3 >= len(pitches)
    groups: list[list[_Row]] = []
    for n, row in enumerate(ordered):
        if not groups:
            groups.append([row])
            continue
        pitch = pitches[n - 1]
        near = pitch <= 1.15 * tight or pitch < 0.8 * row.size
        cut = any(row.top - 1 <= at <= groups[-1][-1].bottom + 1 for at in inner)
        if not cut and near and _continues(groups[-1], row, columns, spaced=spaced):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _has_whole_rows(bands: list[list[_Row]], columns: int) -> bool:
    """Whether most bands hold several lines with nearly all cells: then each line is a row."""
    several = sum(sum(len(_row_pieces(row)) >= 0.6 * columns for row in band) > 1 for band in bands)
    return several * 2 > len(bands)


def _banded(ordered: list[_Row], inner: list[float]) -> list[list[_Row]]:
    """Rows between rules."""
    bands: dict[int, list[_Row]] = {}
    for row in ordered:
        middle = (row.bottom + row.top) / 2
        bands.setdefault(sum(at > middle for at in inner), []).append(row)
    return [bands[band] for band in sorted(bands)]


def _continues(
    group: list[_Row], row: _Row, columns: list[tuple[float, float]], *, spaced: bool
) -> bool:
    """Whether a line belongs to the row of the table above it."""
    own = {_column(columns, line) for line in row.lines}
    known = {_column(columns, line) for one in group for line in one.lines}
    if abs(group[-1].bottom - row.bottom) < 0.8 * row.size:
        return True
    if spaced:
        return own <= known or len(own) < len(columns)
    text = row.lines[0].text
    if 0 not in own:
        return len(own) < len(known) and not all(NUMBER.fullmatch(line.text) for line in row.lines)
    return len(row.lines) == 1 and (text[:1].islower() or group[-1].lines[0].broken_word)


def _column(columns: list[tuple[float, float]], line: Line) -> int:
    return _nearest(columns, (line.left + line.right) / 2)


def _nearest(columns: list[tuple[float, float]], x: float) -> int:
    """The column at a place, or the first of those that are nearest to it."""
    found, least = 0, math.inf
    for n, (start, end) in enumerate(columns):
        apart = start - x if x < start else x - end if x > end else 0.0
        if apart < least:
            found, least = n, apart
    return found


def _cells(groups: list[list[_Row]], columns: list[tuple[float, float]]) -> list[TableCell]:
    found: list[TableCell] = []
    for n, group in enumerate(groups):
        content: dict[tuple[int, int], list[Word]] = {}
        for row in group:
            for piece in _row_pieces(row):
                first, last = _span(columns, piece)
                if last > first and _splits(columns, piece, first, last):
                    for word in piece:
                        at = _word_column(columns, word)
                        content.setdefault((at, at), []).append(word)
                else:
                    content.setdefault((first, last), []).append(piece[0])
                    content[first, last].extend(piece[1:])
        taken: set[int] = set()
        for (first, last), words in sorted(content.items(), key=lambda item: item[0][0]):
            start = next((at for at in range(first, last + 1) if at not in taken), None)
            if start is None:
                previous = next(
                    m
                    for m, cell in enumerate(found)
                    if cell.row == n and cell.column <= first < cell.column + cell.columns
                )
                found[previous] = found[previous]._replace(
                    text=f"{found[previous].text} {cell_text(words)}"
                )
                continue
            found.append(TableCell(n, start, 1, last - start + 1, cell_text(words)))
            taken.update(range(start, last + 1))
        found += [
            TableCell(n, column, 1, 1, "") for column in range(len(columns)) if column not in taken
        ]
    return sorted(found)


def _row_pieces(row: _Row) -> list[list[Word]]:
    """The words of a row, apart where the gap is wider than a space."""
    found: list[list[Word]] = []
    for line in row.lines:
        found.append([line.words[0]])
        for one, other in pairwise(line.words):
            if gap(one, other) > COLUMN_GAP * 1.5 * max(one.size, other.size):
                found.append([other])
            else:
                found[-1].append(other)
    return found


def _span(columns: list[tuple[float, float]], piece: list[Word]) -> tuple[int, int]:
    """The first and the last column that a piece covers."""
    left, right = min(word.left for word in piece), max(word.right for word in piece)
    covered = [
        n
        for n, (start, end) in enumerate(columns)
        if min(end, right) - max(start, left) > min(0.3 * (end - start), 0.5 * (right - left))
    ]
    if covered:
        return covered[0], covered[-1]
    nearest = _nearest(columns, (left + right) / 2)
    return nearest, nearest


def _splits(columns: list[tuple[float, float]], piece: list[Word], first: int, last: int) -> bool:
    """Whether the words of a piece stand in their own columns each."""
    places = [_word_column(columns, word) for word in piece]
    if len(set(places)) != last - first + 1:
        return False
    return all(
        columns[at][0] - 1 <= word.left and word.right <= columns[at][1] + 1
        for at, word in zip(places, piece, strict=True)
    )


def _word_column(columns: list[tuple[float, float]], word: Word) -> int:
    return _nearest(columns, (word.left + word.right) / 2)


def _is_table(cells: Sequence[TableCell], rows: list[_Row], *, ruled: bool) -> bool:
    """Whether it is no prose in columns, no list, no page of contents and no formula."""
    filled = [cell for cell in cells if cell.text]
    count = max(cell.column for cell in cells) + 1
    height = max(cell.row for cell in cells) + 1
    if count < 2 or height < 2 or len(filled) < 0.35 * count * height:
        return False
    if _is_other(filled, count, height, rows, ruled=ruled):
        return False
    if ruled:
        return True
    numbers = sum(NUMBER.fullmatch(cell.text) is not None for cell in filled)
    average = sum(len(cell.text) for cell in filled) / len(filled)
    if count == 2 and numbers * 4 < len(filled):
        return average <= PROSE_CHARACTERS / 2 and height > MIN_ROWS and _is_ragged(cells)
    return average <= PROSE_CHARACTERS and height >= MIN_ROWS


def _is_other(
    filled: Sequence[TableCell], count: int, height: int, rows: list[_Row], *, ruled: bool
) -> bool:
    """Whether it is a page of contents, a formula or a list."""
    lines = [line for row in rows for line in row.lines]
    if sum(LEADER.search(line.text) is not None for line in lines) * 3 > len(rows):
        return True
    signs = sum(len(EQUATION.findall(line.text)) for line in lines)
    if not ruled and signs * 2 > height:
        return True
    first = [cell.text for cell in filled if cell.column == 0]
    marks = sum(LIST_MARK.fullmatch(text) is not None for text in first)
    return count == 2 and marks > 0.6 * len(first)


def _is_ragged(cells: Sequence[TableCell]) -> bool:
    """Whether the texts of the first column differ in length, as those of prose do not."""
    lengths = [len(cell.text) for cell in cells if cell.column == 0 and cell.text]
    return bool(lengths) and median(lengths) < FULL_SHARE * max(lengths)


def _header(cells: Sequence[TableCell], groups: list[list[_Row]], inner: list[float]) -> int:
    """How many rows are above the first rule inside the table; else one."""
    total = max(cell.row for cell in cells) + 1
    top = max(row.top for row in groups[0])
    for at in inner:
        if at < top - 2:
            above = sum(min(row.bottom for row in group) > at - 2 for group in groups)
            if 0 < above <= 4 and above < total:
                return above
            break
    return 1
