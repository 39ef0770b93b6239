"""Sources + a number of tokens → an Answer: who gets how much, where a long text is cut, and how it is continued.

Pure: it knows neither where the texts came from nor how they will be shown.
"""

import re
from collections.abc import Sequence

from kindly.budget import count_tokens, fair_shares
from kindly.errors import InputError
from kindly.models import Document, Passage, Source, SourceExcerpt

CURSOR_KEY_LENGTH = 12
CURSOR = re.compile(r"([0-9a-f]{12})-([0-9]{1,9})")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
HEADING = re.compile(r"#{1,4} +(\S.*)")
OUTLINE_LENGTH = 10
OUTLINE_CHARACTERS = 60
NEAR_CHARACTERS = 40
"""A gap smaller than this is not worth a mark."""
LEAD_TOKENS = 100
"""What is left of a share after the best passages, from which on the page's beginning is added."""
GAP_TOKENS = 12
"""What the mark of a gap costs."""
WORST_BYTES = 4
"""A character has at most four bytes in UTF-8."""


def compose(sources: Sequence[Source], tokens: int) -> tuple[SourceExcerpt, ...]:
    """Every source with as much of its text as its fair share of `tokens` allows."""
    wanted = [count_tokens(source.document.text) if source.document else 0 for source in sources]
    shares = fair_shares(wanted, tokens)
    return tuple(
        excerpt(source, start=0, tokens=share)
        for source, share in zip(sources, shares, strict=True)
    )


def excerpt(source: Source, *, start: int, tokens: int) -> SourceExcerpt:
    """A source with its text from `start` on, cut to `tokens`; its best passages if it was ranked and does not fit."""
    if source.document is None:
        return SourceExcerpt(source)
    if source.passages and start == 0 and count_tokens(source.document.text) > tokens:
        return _excerpted(source, source.document, tokens)
    passage = cut(source.document.text, start, tokens)
    if passage.end == passage.total:
        return SourceExcerpt(source, passage)
    cursor = cursor_at(source.document, passage.end)
    return SourceExcerpt(source, passage, cursor, outline(source.document.text, passage.end))


def _excerpted(source: Source, document: Document, tokens: int) -> SourceExcerpt:
    """The passages that are needed most, as many as fit, in the page's order."""
    spans: list[tuple[int, int]] = []
    for passage in source.passages:
        grown = _joined([*spans, (passage.start, passage.end)])
        if _cost(document.text, grown) <= tokens:
            spans = grown
    if not spans:
        best = source.passages[0]
        cut_short = cut(document.text[: best.end], best.start, tokens)
        spans = [(best.start, cut_short.end)]
    spans = _with_beginning(document.text, spans, tokens)
    total = len(document.text)
    excerpts = tuple(Passage(document.text[a:b], a, b, total) for a, b in spans)
    seen_to = spans[0][1] if spans[0][0] == 0 else 0
    return SourceExcerpt(
        source,
        Passage("", seen_to, seen_to, total),
        cursor_at(document, seen_to),
        outline(document.text, seen_to),
        excerpts,
    )


def _with_beginning(text: str, spans: list[tuple[int, int]], tokens: int) -> list[tuple[int, int]]:
    """The spans, and of the page's beginning as much as there is room left for."""
    for _ in range(len(spans) + 1):
        room = tokens - _cost(text, spans) - GAP_TOKENS
        start = spans[0][1] if spans[0][0] == 0 else 0
        if room < LEAD_TOKENS or start == len(text):
            break
        end = cut(text, start, room).end
        spans = _joined([*spans, (start, end)])
    return spans


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that touch or overlap made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + NEAR_CHARACTERS:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _cost(text: str, spans: list[tuple[int, int]]) -> int:
    return sum(count_tokens(text[start:end]) + GAP_TOKENS for start, end in spans)


def outline(text: str, start: int) -> tuple[str, ...]:
    """The first headings from `start` on: what a reader would find further down."""
    headings: list[str] = []
    in_code = False
    for line in text[start:].splitlines():
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and (match := HEADING.match(line)):
            headings.append(match[1].strip()[:OUTLINE_CHARACTERS])
            if len(headings) == OUTLINE_LENGTH:
                break
    return tuple(headings)


def cut(text: str, start: int, tokens: int) -> Passage:
    """`text[start:]` up to `tokens`, ended where a reader would pause: paragraph, line, sentence, word."""
    end = _reach(text, start, tokens)
    if end < len(text):
        end = start + _pause(text[start:end])
    return Passage(text[start:end], start, end, len(text))


def _reach(text: str, start: int, tokens: int) -> int:
    """How far from `start` the tokens go, at the character."""
    if count_tokens(text[start:]) <= tokens:
        return len(text)
    low, high = start, min(len(text), start + tokens * WORST_BYTES)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[start:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _pause(piece: str) -> int:
    """Where in its last third a piece is best ended; never inside a code block that began in that third."""
    earliest = len(piece) * 2 // 3
    fences = [match.start() for match in FENCE.finditer(piece)]
    if len(fences) % 2 and fences[-1] >= max(earliest, 1):
        return fences[-1]
    for mark in ("\n\n", "\n", ". ", "。", " "):
        at = piece.rfind(mark, earliest)
        if at >= 0:
            return at + len(mark)
    return len(piece)


def cursor_key(document: Document) -> str:
    """The part of a cursor that identifies the document's text: the beginning of its content hash."""
    return document.content_hash[:CURSOR_KEY_LENGTH]


def cursor_at(document: Document, position: int) -> str:
    """An opaque cursor: the document's key and a position in its text."""
    return f"{cursor_key(document)}-{position}"


def parse_cursor(cursor: str) -> tuple[str, int]:
    """The text's name and the place in it.

    Raises:
        InputError: it is not a cursor that was given out.
    """
    match = CURSOR.fullmatch(cursor.strip())
    if match is None:
        raise InputError(
            f"cursor {cursor[:40]!r} is not one that an answer gave out: pass it unchanged, or leave it out.",
            field="cursor",
        )
    return match[1], int(match[2])
