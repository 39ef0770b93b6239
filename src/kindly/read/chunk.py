"""Text splitter: document → chunks by heading, paragraph and sentence, merged to a size with some overlap.

Pure and deterministic: the same text gives the same ids. Code and tables that fit stay whole.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from kindly.budget import count_tokens
from kindly.models import Chunk
from kindly.read.ranking.segment import Block, blocks, sentences
from kindly.text.page_marks import PAGE_MARK, page_label, page_of

OVERLAP = 0.12
MAX_OVERLAP = 0.15
SMALL = 0.25
"""A section below this share of the chunk size is merged with the next one."""
MAX_HEAD_SHARE = 0.25
"""A table's head is repeated above each part unless it takes more of the chunk size than this."""

MAX_LINES = 60_000

_WORD_START = re.compile(r"(?<=\s)\S")


class Piece(NamedTuple):
    """The smallest unit that is merged: a heading, a sentence, code, a table, or some lines of a longer one."""

    start: int
    end: int
    prose: bool = False
    """Whether the next chunk may repeat its end."""
    head: str = ""
    """The head of a split table, which is put before it."""


def split(text: str, url: str, *, size: int = 512) -> tuple[Chunk, ...]:
    """The chunks of a text in order, each of at most `size` tokens, without duplicates.

    `chunk.text == text[chunk.start:chunk.end]`, except for rows of a long table, whose head is put before them. Of a
    text with more than `MAX_LINES` lines, only those are split.
    """
    text = _bounded(text)
    merger = _Merger(text, url, max(size, 16))
    path: list[tuple[int, str]] = []
    page: tuple[str, ...] = ()
    for block in blocks(text):
        mark = PAGE_MARK.fullmatch(text[block.start : block.end].strip())
        if mark:
            page = (page_label(int(mark[1])),)
        elif block.kind == "heading":
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.title))
        if mark or block.kind == "heading":
            merger.enter((*(title for _, title in path if title), *page))
        for piece in _pieces(text, block, merger.size):
            merger.add(piece, content=block.kind != "heading" and not mark)
    merger.flush()
    return tuple(merger.chunks)


def _bounded(text: str) -> str:
    if text.count("\n") <= MAX_LINES:
        return text
    end = -1
    for _ in range(MAX_LINES):
        end = text.find("\n", end + 1)
    return text[:end]


@dataclass
class _Merger:
    """Merges pieces into chunks."""

    text: str
    url: str
    size: int
    chunks: list[Chunk] = field(default_factory=list)
    emitted: set[str] = field(default_factory=set)
    section: tuple[str, ...] = ()
    """The headings above all of the open chunk."""
    start: int = 0
    end: int = 0
    tokens: float = 0.0
    """Of the open chunk; zero if none is open."""
    starts: list[int] = field(default_factory=list)
    """Offsets where the overlap with the next chunk may start."""
    content: bool = False
    """Whether the open chunk has more than headings."""
    next_section: tuple[str, ...] = ()

    def enter(self, section: tuple[str, ...]) -> None:
        """Start a new chunk for a section, unless the open one is small."""
        if self.content and self.tokens >= SMALL * self.size:
            self.flush()
        self.section = _shared(self.section, section) if self.tokens else section
        self.next_section = section

    def add(self, piece: Piece, *, content: bool) -> None:
        """Add a piece to the open chunk, or start another with it."""
        if piece.head:
            self.flush()
            self._emit(piece.start, piece.end, piece.head)
            return
        if self.tokens and self.tokens + self._tokens(self.end, piece.end) > self.size:
            overlap = self._overlap() if self.content else self.end
            self.flush()
            if overlap < self.end and self._tokens(overlap, piece.end) <= self.size:
                self._open(overlap)
        if not self.tokens:
            self._open(piece.start)
        self.tokens += self._tokens(self.end, piece.end)
        self.end = piece.end
        self.content = self.content or content
        if piece.prose:
            self.starts.append(piece.start)
        else:
            self.starts.clear()

    def flush(self) -> None:
        if self.tokens:
            self._emit(self.start, self.end, "")
        self.tokens, self.content, self.section = 0.0, False, self.next_section
        self.starts.clear()

    def _open(self, start: int) -> None:
        self.start = self.end = start
        self.tokens = 0.01

    def _tokens(self, start: int, end: int) -> float:
        return len(self.text[start:end].encode("utf-8", "surrogatepass")) / 4

    def _overlap(self) -> int:
        """The start of the next chunk, so that it repeats an eighth of a full one; at a sentence if possible."""
        least, most = OVERLAP * self.size * 0.85, MAX_OVERLAP * self.size
        for start in reversed(self.starts):
            tokens = self._tokens(start, self.end)
            if tokens > most:
                target = self.end - int((self.end - start) * OVERLAP * self.size / tokens)
                match = _WORD_START.search(self.text, target, self.end)
                return match.start() if match else target
            if tokens >= least:
                return start
        return self.starts[0] if self.starts else self.end

    def _emit(self, start: int, end: int, head: str) -> None:
        text = head + self.text[start:end]
        if text in self.emitted:
            return
        self.emitted.add(text)
        path = "|".join((self.url, " > ".join(self.section), text))
        key = sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
        self.chunks.append(Chunk(key, self.url, text, start, end, self.section, count_tokens(text)))


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The headings that both have, and the page of the first."""
    if page_of(one) is not None:
        return (*_shared(one[:-1], other), one[-1])
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]


def _pieces(text: str, block: Block, size: int) -> Iterator[Piece]:
    if block.kind == "prose":
        for start, end in sentences(text, block.start, block.end):
            yield from (Piece(*span, prose=True) for span in _cut(text, start, end, size))
    elif count_tokens(text[block.start : block.end]) <= size:
        yield Piece(block.start, block.end)
    elif block.kind == "table":
        yield from _rows(text, block, size)
    else:
        yield from (Piece(*span) for span in _packed(text, _lines(text, block), size))


def _rows(text: str, block: Block, size: int) -> Iterator[Piece]:
    """A long table in parts, each with the table head: the first row and the separator below it."""
    lines = _lines(text, block)
    has_separator = len(lines) > 1 and not set(text[slice(*lines[1])]) - set("|-: \t\r")
    body = lines[2 if has_separator else 1 :]
    head = text[block.start : lines[1 if has_separator else 0][1]] + "\n"
    available = size - count_tokens(head)
    if not body or available < size * (1 - MAX_HEAD_SHARE):
        head, body, available = "", lines, size
    for number, (start, end) in enumerate(_packed(text, body, available)):
        first = number == 0 and head
        yield Piece(block.start, end) if first else Piece(start, end, head=head)


def _lines(text: str, block: Block) -> list[tuple[int, int]]:
    lines, left = [], block.start
    while left < block.end:
        right = text.find("\n", left, block.end)
        right = block.end if right < 0 else right
        if right > left:
            lines.append((left, right))
        left = right + 1
    return lines


def _packed(text: str, spans: list[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """Neighbouring spans joined up to the size; longer ones are split."""
    start = end = -1
    tokens = 0.0
    for span in spans:
        for left, right in _cut(text, *span, size):
            cost = (
                len(
                    text[max(end, left) if end < 0 else end : right].encode(
                        "utf-8", "surrogatepass"
                    )
                )
                / 4
            )
            if start >= 0 and tokens + cost > size:
                yield start, end
                start = -1
            if start < 0:
                start, tokens = left, 0.0
                cost = len(text[left:right].encode("utf-8", "surrogatepass")) / 4
            tokens += cost
            end = right
    if start >= 0:
        yield start, end


def _cut(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """A span in parts of at most `size` tokens, split at spaces if there are any."""
    while count_tokens(text[start : min(end, start + 4 * size + 1)]) > size:
        step = size * 4
        while count_tokens(text[start : start + step]) > size:
            step = step * 3 // 4
        stop = start + step
        space = max(
            text.rfind(" ", start + step // 2, stop), text.rfind("\n", start + step // 2, stop)
        )
        stop = space if space > start else stop
        yield start, stop
        while stop < end and text[stop].isspace():
            stop += 1
        start = stop
    if start < end:
        yield start, end
