"""Lines of text on a PDF page: words that stand side by side with no wide gap between them. Pure."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar
from unicodedata import bidirectional

from kindly.extract.formats.pdf.pdf_words import Font, Word

Value = TypeVar("Value")

WIDE_GAP = 1.6
"""A gap of so many font sizes ends a line."""
NARROW_GAP = 0.7
"""Pieces with a gap up to this are the same line, if they are drawn one after the other."""
SAME_ROW = 0.5
"""The share of the lower height that two pieces of one row have in common."""
MARKER = re.compile(r"[•◦▪■□‣●○∙❖➢➤✓✔❑☐☑☒\uf000-\uf0ff–]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]")
MARKER_GAP = 2.0
MAX_MARKERS = 300
SHADOW = 0.3
GUTTER_GAP = 0.8
GUTTER_LINES = 6
SCRIPT_SHARE = 0.8
"""Smaller text next to a word is a superscript or subscript."""


@dataclass(frozen=True)
class Box:
    """A rectangle; coordinates grow to the right and upwards."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """The width."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The height."""
        return self.top - self.bottom

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is inside."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    def overlaps(self, other: "Box | Line") -> bool:
        """Whether two boxes share more than an edge."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


class _Once(Generic[Value]):
    """A property that is computed at its first use. `functools.cached_property` takes a lock before Python 3.12."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, instance: object, owner: type | None = None) -> Value:
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


@dataclass(frozen=True, eq=False)
class Line:
    """A line of text, or a part of one up to a wide gap."""

    words: tuple[Word, ...]
    left: float
    bottom: float
    right: float
    top: float
    size: float

    @classmethod
    def of(cls, words: Sequence[Word]) -> "Line":
        """The line of these words, which are in reading order."""
        if len(words) == 1:
            (word,) = words
            return cls((word,), word.left, word.bottom, word.right, word.top, word.size)
        words = _in_order(words)
        size, main = words[0].size, words
        if any(word.size != size for word in words):
            counted: Counter[float] = Counter()
            for word in words:
                counted[word.size] += len(word.text)
            size = max(counted, key=lambda known: (counted[known], known))
            main = [word for word in words if word.size >= SCRIPT_SHARE * size] or words
        return cls(
            tuple(words),
            min(word.left for word in words),
            min(word.bottom for word in main),
            max(word.right for word in words),
            max(word.top for word in main),
            size,
        )

    @_Once
    def text(self) -> str:
        """The words with spaces between them."""
        parts: list[str] = []
        for word in self.words:
            if parts and not word.glued:
                parts.append(" ")
            parts.append(word.text)
        return "".join(parts)

    @_Once
    def font(self) -> Font:
        """The font of most of its characters."""
        first = self.words[0].font
        if all(word.font is first for word in self.words):
            return first
        counted: dict[Font, int] = {}
        for word in self.words:
            counted[word.font] = counted.get(word.font, 0) + len(word.text)
        return max(counted, key=lambda font: counted[font])

    @_Once
    def bold(self) -> bool:
        """Whether all its letters are bold."""
        if not any(word.font.bold for word in self.words):
            return False
        letters = [word for word in self.words if any(map(str.isalnum, word.text))]
        return bool(letters) and all(word.font.bold for word in letters)

    @_Once
    def mono(self) -> bool:
        """Whether all its text is in a font of fixed width."""
        return all(word.font.mono for word in self.words)

    @property
    def tag(self) -> int:
        """The number of the marked content of its first word."""
        return self.words[0].tag

    @property
    def broken_word(self) -> bool:
        """Whether its last word goes on in the next line."""
        return self.words[-1].broken

    @_Once
    def right_to_left(self) -> bool:
        """Whether it is written from right to left."""
        return runs_right_to_left(self.text)

    @property
    def box(self) -> Box:
        """Its box."""
        return Box(self.left, self.bottom, self.right, self.top)


def _in_order(words: Sequence[Word]) -> Sequence[Word]:
    """The words from left to right, if they are written so: formulas are drawn in any order."""
    if all(one.left <= other.left for one, other in pairwise(words)) or words[0].turned:
        return words
    if runs_right_to_left(" ".join(word.text for word in words)):
        return words
    ordered = sorted(words, key=lambda word: word.left)
    broken = words[-1].broken
    return [word._replace(glued=False, broken=False) for word in ordered[:-1]] + [
        ordered[-1]._replace(glued=False, broken=broken)
    ]


def without_shadows(lines: Iterable[Sequence[Word]]) -> list[list[Word]]:
    """The words without those that are drawn twice at almost the same place, to look bold or to cast a shadow."""
    seen: set[tuple[str, int, int]] = set()
    found: list[list[Word]] = []
    for line in lines:
        kept: list[Word] = []
        for word in line:
            step = SHADOW * word.size + 0.1
            x, y = word.left / step, word.bottom / step
            one = (word.text, int(x), int(y))
            other = (word.text, int(x + 0.5), int(y + 0.5))
            if one not in seen and other not in seen:
                kept.append(word)
            seen.add(one)
            seen.add(other)
        if kept:
            found.append(kept)
    return found


def runs_right_to_left(text: str) -> bool:
    """Whether most letters of a text belong to a script that is written from right to left."""
    if text.isascii():
        return False
    marks = Counter(bidirectional(character) for character in text[:200])
    return marks["R"] + marks["AL"] > marks["L"]


def lines_of(drawn: Iterable[Sequence[Word]]) -> list[Line]:
    """The lines of a page: pieces at wide gaps, joined where they were drawn as parts of one line."""
    pieces: list[list[Word]] = []
    for words in drawn:
        for piece in _pieces(words):
            if pieces and _same_line(pieces[-1], piece):
                pieces[-1].extend(piece)
            else:
                pieces.append(piece)
    return _with_markers([Line.of(piece) for piece in pieces])


def _with_markers(lines: list[Line]) -> list[Line]:
    """The lines, with bullets and numbers that are drawn apart put before the text that they belong to."""
    alone = [line for line in lines if len(line.words) == 1 and MARKER.fullmatch(line.text)]
    if not alone:
        return lines
    joined: dict[Line, Line] = {}
    gone: set[Line] = set()
    by_left = sorted(lines, key=lambda line: line.left)
    lefts = [line.left for line in by_left]
    reach = MARKER_GAP * max(line.size for line in lines)
    for marker in alone[:MAX_MARKERS]:
        start = bisect_left(lefts, marker.right - 1)
        beside = [
            line
            for line in by_left[start : bisect_right(lefts, marker.right + reach)]
            if line is not marker
            and line not in joined
            and line.left - marker.right <= MARKER_GAP * line.size
            and same_row(marker, line)
            and MARKER.fullmatch(line.text) is None
        ]
        if beside:
            text = min(beside, key=lambda line: line.left)
            joined[text] = Line.of((*marker.words, *text.words))
            gone.add(marker)
    return [joined.get(line, line) for line in lines if line not in gone]


def gap(one: Word, other: Word) -> float:
    """The horizontal distance of two words; negative if they overlap."""
    return max(other.left - one.right, one.left - other.right)


def same_row(one: Word | Line | Box, other: Word | Line | Box) -> bool:
    """Whether two pieces are side by side."""
    top, bottom, other_top, other_bottom = one.top, one.bottom, other.top, other.bottom
    height, other_height = top - bottom, other_top - other_bottom
    common = (top if top < other_top else other_top) - (
        bottom if bottom > other_bottom else other_bottom
    )
    return common > SAME_ROW * (height if height < other_height else other_height)


def _pieces(words: Sequence[Word]) -> list[list[Word]]:
    last = words[0]
    piece = [last]
    found = [piece]
    for word in words[1:]:
        apart = word.left - last.right if last.turned == word.turned == 0 else _apart(last, word)
        wide = WIDE_GAP * (last.size if last.size > word.size else word.size)
        if apart > wide or last.left - word.right > wide or not _level(last, word):
            piece = [word]
            found.append(piece)
        else:
            piece.append(word)
        last = word
    return found


def _same_line(before: Sequence[Word], after: Sequence[Word]) -> bool:
    last, first = before[-1], after[0]
    if last.broken or not _level(last, first):
        return False
    size = max(last.size, first.size)
    return -0.3 * size <= _apart(last, first) <= NARROW_GAP * size


def _level(one: Word, other: Word) -> bool:
    """Whether two words stand on one line, which may be turned."""
    if one.turned != other.turned:
        return False
    if one.turned % 2:
        common = min(one.right, other.right) - max(one.left, other.left)
        return common > SAME_ROW * min(one.right - one.left, other.right - other.left)
    return same_row(one, other)


def _apart(one: Word, other: Word) -> float:
    if one.turned % 2:
        return max(other.bottom - one.top, one.bottom - other.top)
    return gap(one, other)


def split_at_gutters(lines: Sequence[Line]) -> list[Line]:
    """The lines, cut where most lines of the page leave a gap at the same place: columns that were drawn row by row."""
    gutter = _gutter(lines)
    if gutter is None:
        return list(lines)
    found: list[Line] = []
    for line in lines:
        cut = next(
            (
                n
                for n, (one, other) in enumerate(pairwise(line.words), 1)
                if one.right <= gutter <= other.left
                and other.left - one.right > GUTTER_GAP * line.size
            ),
            0,
        )
        found += [Line.of(line.words[:cut]), Line.of(line.words[cut:])] if cut else [line]
    return found


def _gutter(lines: Sequence[Line]) -> float | None:
    """The place of the gap that most wide lines have, or None."""
    gaps = [
        (one.right, other.left)
        for line in lines
        if not line.words[0].turned
        for one, other in pairwise(line.words)
        if other.left - one.right > GUTTER_GAP * line.size
    ]
    if len(gaps) < GUTTER_LINES:
        return None
    edges = sorted([(start, 1) for start, _ in gaps] + [(end, -1) for _, end in gaps])
    depth = most = 0
    place = 0.0
    for n, (at, step) in enumerate(edges[:-1]):
        depth += step
        if depth > most:
            most, place = depth, (at + edges[n + 1][0]) / 2
    crossed = sum(
        any(word.left < place < word.right for word in line.words)
        or any(
            one.right <= place <= other.left and other.left - one.right <= GUTTER_GAP * line.size
            for one, other in pairwise(line.words)
        )
        for line in lines
    )
    return place if most >= GUTTER_LINES and most >= 2 * crossed else None
