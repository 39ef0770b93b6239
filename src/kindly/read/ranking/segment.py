"""Sentence segmentation: Markdown → blocks (headings, code, tables, prose), and prose → sentences, as offsets.

It knows Markdown's block structure and the punctuation of many scripts.
"""

import re
from collections.abc import Iterator
from typing import Literal

from kindly.frozen import frozen

Kind = Literal["heading", "code", "table", "prose"]

MAX_TITLE = 200
WRAP_CHARACTERS = 60
"""A line of at least this length may continue on the next one."""
LONG_RUN = 180
"""Characters after which text in a script without sentence ends is split at a space."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_WIKI = re.compile(r" ?((?:= ?){1,6})[^=\s]")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_END = re.compile(
    r"[.!?…\n。！？｡।॥؟۔။។։።།](?:"
    r"(?<=[.!?…])[.!?…]*[\"'”’»)\]*_]{0,4}(?=\s)"
    r"|(?<=[。！？｡])[。！？｡]*[」』”’）)】]{0,3}"
    r"|(?<=[।॥؟۔။។։።།])[।॥؟۔။។։።།]*[\"'”’»)\]]{0,3}"
    r"|(?<=\n))"
)
_SPACE = re.compile(r"\s+")
_SHORT = re.compile(
    r"(?:^|[\s(\[])(?:[^\W\d_]|mrs?|ms|dr|st|vs|prof|sr|jr|e\.g|i\.e|cf|al|fig|figs|no|nos|eq|sec|vol|pp?|approx|inc|ltd|corp|co)$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•>|]|\d{1,3}[.)])[ \t]")
_UNMARKED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese, Khmer: no spaces between words; Thai and Lao have no sentence ends either."""


@frozen
class Block:
    """A span of text of one kind."""

    kind: Kind
    start: int
    end: int
    level: int = 0
    """Of a heading, 1 to 6."""
    title: str = ""
    """Of a heading."""


def blocks(text: str) -> Iterator[Block]:
    """The blocks in order, without blank lines."""
    lines = _lines(text)
    position, count = 0, len(lines)
    while position < count:
        start, end = lines[position]
        line = text[start:end]
        position += 1
        if not line or line.isspace():
            continue
        if heading := _heading(line):
            yield Block("heading", start, end, *heading)
            continue
        if fence := _FENCE.match(line):
            position = _closing_fence(text, lines, position, fence[1])
            yield Block("code", start, lines[position - 1][1])
            continue
        table = line.lstrip().startswith("|")
        while position < count and _continues(text[slice(*lines[position])], table=table):
            position += 1
        yield Block("table" if table else "prose", start, lines[position - 1][1])


def sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The offsets of the sentences in `text[start:end]`, without surrounding space; none is empty."""
    found: list[tuple[int, int]] = []
    left = start
    for match in _END.finditer(text, start, end):
        if _ends_sentence(text, left, match, end):
            _append(text, left, match.end(), found)
            left = match.end()
    _append(text, left, end, found)
    return found


def _lines(text: str) -> list[tuple[int, int]]:
    spans, left = [], 0
    while left <= len(text):
        right = text.find("\n", left)
        if right < 0:
            right = len(text)
        spans.append((left, right))
        left = right + 1
    return spans


def _heading(line: str) -> tuple[int, str] | None:
    if match := _ATX.match(line):
        title = _CLOSING.sub("", line[match.end() : match.end() + 4 * MAX_TITLE])
        return len(match[1]), title.strip()[:MAX_TITLE]
    if (match := _WIKI.match(line)) and line.rstrip().endswith("="):
        return match[1].count("="), line.strip(" =")[:MAX_TITLE]
    return None


def _closing_fence(text: str, lines: list[tuple[int, int]], position: int, fence: str) -> int:
    for index in range(position, len(lines)):
        line = text[slice(*lines[index])].strip()
        if len(line) >= len(fence) and line == line[0] * len(line) and line[0] == fence[0]:
            return index + 1
    return len(lines)


def _continues(line: str, *, table: bool) -> bool:
    if not line or line.isspace() or line.lstrip().startswith("|") is not table:
        return False
    return _heading(line) is None and _FENCE.match(line) is None


def _ends_sentence(text: str, left: int, match: re.Match[str], end: int) -> bool:
    end_mark = match[0]
    if end_mark == "\n":
        return not _wrapped(text, left, match.start(), end)
    if end_mark[0] != ".":
        return True
    following = text[match.end() : match.end() + 3].lstrip()
    if following[:1].islower():
        return False
    return _SHORT.search(text[max(left, match.start() - 8) : match.start()]) is None


def _wrapped(text: str, left: int, newline: int, end: int) -> bool:
    """Whether a line break only wraps a long line."""
    line = max(left, text.rfind("\n", left, newline) + 1)
    return (
        newline - line >= WRAP_CHARACTERS
        and newline + 1 < end
        and text[newline - 1] not in ":;|"
        and _ITEM.match(text, newline + 1, min(end, newline + 12)) is None
    )


def _append(text: str, left: int, right: int, found: list[tuple[int, int]]) -> None:
    while left < right and text[left].isspace():
        left += 1
    while right > left and text[right - 1].isspace():
        right -= 1
    if left == right:
        return
    if right - left > LONG_RUN and _UNMARKED.search(text, left, left + LONG_RUN):
        for match in _SPACE.finditer(text, left, right):
            if match.start() - left >= LONG_RUN // 2:
                found.append((left, match.start()))
                left = match.end()
    found.append((left, right))
