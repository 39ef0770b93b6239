"""The text of a stored page from its chunks, and the headings above a place in it. Pure."""

import re
from collections.abc import Sequence

from kindly.models import Chunk

HEADING = re.compile(r"(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*\Z")
FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


def page_text(chunks: Sequence[Chunk]) -> str:
    """The text that the chunks were cut from; what lay between two chunks is a blank line."""
    parts: list[str] = []
    end = 0
    for chunk in sorted(chunks, key=lambda one: (one.start, one.end)):
        if chunk.end <= end and parts:
            continue
        if chunk.start >= end:
            if parts:
                parts.append("\n\n")
            parts.append(chunk.text)
        else:
            parts.append(chunk.text[end - chunk.start - _head(chunk) :])
        end = chunk.end
    return "".join(parts)


def _head(chunk: Chunk) -> int:
    """How much longer the text is than its place: the repeated head of a table."""
    return min(0, chunk.end - chunk.start - len(chunk.text))


def headings_above(text: str, place: int) -> tuple[str, ...]:
    """The headings above a position of a Markdown text, outermost first."""
    path: list[tuple[int, str]] = []
    fence = ""
    for line in text[:place].splitlines():
        if found := FENCE.match(line):
            mark = found[1]
            fence = "" if fence and mark.startswith(fence) else fence or mark
        elif not fence and (heading := HEADING.match(line)):
            level = len(heading[1])
            path = [one for one in path if one[0] < level]
            path.append((level, heading[2] or ""))
    return tuple(title for _, title in path)
