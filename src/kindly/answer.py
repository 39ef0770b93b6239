"""Sources + a token budget → an Answer: the share of each source, where a long text is cut, and the cursor after it.

Pure: independent of how the texts were fetched and how they are rendered.
"""

import re
from collections.abc import Sequence

from kindly.budget import count_tokens, fair_shares
from kindly.errors import InputError
from kindly.models import Answer, Document, Passage, Source, SourceExcerpt
from kindly.text.plain_line import plain_line

CURSOR_KEY_LENGTH = 12
CURSOR = re.compile(r"([0-9a-f]{12})-([0-9]{1,9})")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
HEADING = re.compile(r"#{1,4} +(\S.*)")
OUTLINE_LENGTH = 10
OUTLINE_CHARACTERS = 60
MERGE_GAP_CHARACTERS = 40
"""Spans closer than this are merged; marking the gap would cost more."""
MIN_LEAD_TOKENS = 100
"""The page's beginning is added if at least this much of the share is left."""
GAP_TOKENS = 12
"""The cost of a gap's mark."""
MAX_CHARACTERS_PER_TOKEN = 4
"""A token is counted as four bytes of UTF-8, and a character has at least one."""


def compose(sources: Sequence[Source], tokens: int) -> Answer:
    """An excerpt of every source, within its fair share of `tokens`."""
    sizes = [count_tokens(source.document.text) if source.document else 0 for source in sources]
    shares = fair_shares(sizes, tokens)
    return Answer(
        tuple(
            excerpt(source, start=0, tokens=share)
            for source, share in zip(sources, shares, strict=True)
        )
    )


def excerpt(source: Source, *, start: int, tokens: int) -> SourceExcerpt:
    """The source's text from `start`, cut to `tokens`. A ranked source that does not fit shows its best passages."""
    if source.document is None:
        return SourceExcerpt(source)
    if source.passages and start == 0 and count_tokens(source.document.text) > tokens:
        return _best_passages(source, source.document, tokens)
    passage = cut(source.document.text, start, tokens)
    if passage.end == passage.total:
        return SourceExcerpt(source, passage)
    cursor = cursor_at(source.document, passage.end)
    return SourceExcerpt(source, passage, cursor, outline(source.document.text, passage.end))


def _best_passages(source: Source, document: Document, tokens: int) -> SourceExcerpt:
    """The most relevant passages, as many as fit, in the page's order."""
    spans: list[tuple[int, int]] = []
    for passage in source.passages:
        merged = _merged([*spans, (passage.start, passage.end)])
        if _cost(document.text, merged) <= tokens:
            spans = merged
    if not spans:
        best = source.passages[0]
        cut_short = cut(document.text[: best.end], best.start, tokens)
        spans = [(best.start, cut_short.end)]
    spans = _with_beginning(document.text, spans, tokens)
    total = len(document.text)
    excerpts = tuple(Passage(document.text[a:b], a, b, total) for a, b in spans)
    shown_to = spans[0][1] if spans[0][0] == 0 else 0
    return SourceExcerpt(
        source,
        Passage("", shown_to, shown_to, total),
        cursor_at(document, shown_to),
        outline(document.text, shown_to),
        excerpts,
    )


def _with_beginning(text: str, spans: list[tuple[int, int]], tokens: int) -> list[tuple[int, int]]:
    """The spans, and as much of the page's beginning as fits into the rest of the budget."""
    for _ in range(len(spans) + 1):
        left = tokens - _cost(text, spans) - GAP_TOKENS
        start = spans[0][1] if spans[0][0] == 0 else 0
        if left < MIN_LEAD_TOKENS or start == len(text):
            break
        end = cut(text, start, left).end
        spans = _merged([*spans, (start, end)])
    return spans


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order; those that touch or overlap become one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + MERGE_GAP_CHARACTERS:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _cost(text: str, spans: list[tuple[int, int]]) -> int:
    return sum(count_tokens(text[start:end]) + GAP_TOKENS for start, end in spans)


def outline(text: str, start: int) -> tuple[str, ...]:
    """The first headings after `start`, each as a plain line: they stand outside the page's text."""
    headings: list[str] = []
    in_code = False
    for line in text[start:].splitlines():
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and (match := HEADING.match(line)):
            headings.append(plain_line(match[1], OUTLINE_CHARACTERS))
            if len(headings) == OUTLINE_LENGTH:
                break
    return tuple(headings)


def cut(text: str, start: int, tokens: int) -> Passage:
    """`text[start:]` up to `tokens`, cut at a paragraph, line, sentence or word boundary."""
    end = _last_fitting(text, start, tokens)
    if end < len(text):
        end = start + _boundary(text[start:end])
    return Passage(text[start:end], start, end, len(text))


def _last_fitting(text: str, start: int, tokens: int) -> int:
    """The largest end so that `text[start:end]` has at most `tokens`, by binary search."""
    if count_tokens(text[start:]) <= tokens:
        return len(text)
    low, high = start, min(len(text), start + tokens * MAX_CHARACTERS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[start:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _boundary(piece: str) -> int:
    """The best place for a cut in the last third of a piece; before a code block that starts in that third."""
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
    """The document's key and the position.

    Raises:
        InputError: the text is not a cursor.
    """
    match = CURSOR.fullmatch(cursor.strip())
    if match is None:
        raise InputError(
            "cursor is invalid: pass the cursor of an answer unchanged, or leave it out.",
            field="cursor",
        )
    return match[1], int(match[2])
