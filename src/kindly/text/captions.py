"""Captions of a video: WebVTT or SubRip text → lines with times → paragraphs with times."""

import html
import re
from collections.abc import Iterator, Sequence

from kindly.frozen import frozen
from kindly.text.plain_line import plain_line

PARAGRAPH_S = 30
"""Captions are joined to paragraphs of about this length."""
MAX_LINE = 5_000
MAX_CHARACTERS = 1_000_000
MAX_CUES = 20_000
_TIMES = re.compile(
    r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}[ \t]+-->[ \t]+(?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
)
_TAG = re.compile(r"</?[^<>\n]{0,200}>|\{\\[^{}\n]{0,100}\}")


@frozen
class Cue:
    """A line of captions and when it is shown."""

    start_s: int
    text: str


def cues_in(text: str) -> list[Cue]:
    """The lines of a WebVTT or SubRip file, in its order; a line that stays on the screen comes once."""
    cues: list[Cue] = []
    for start_s, shown in _blocks(text[:MAX_CHARACTERS]):
        for line in shown:
            plain = plain_line(html.unescape(_TAG.sub("", line)), MAX_LINE)
            if plain and all(plain != cue.text for cue in cues[-2:]):
                cues.append(Cue(start_s, plain))
        if len(cues) >= MAX_CUES:
            break
    return cues[:MAX_CUES]


def _blocks(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The start of each block with times, and its lines."""
    for block in re.split(r"\n[ \t]*\n", text.removeprefix("\ufeff").replace("\r\n", "\n")):
        lines = block.strip("\n").split("\n")
        for number, line in enumerate(lines[:2]):
            if times := _TIMES.match(line.strip()):
                hours, minutes, seconds = (int(part or 0) for part in times.groups())
                yield hours * 3600 + minutes * 60 + seconds, lines[number + 1 :]
                break


def paragraphs(cues: Sequence[Cue]) -> list[str]:
    """The lines joined to paragraphs, each with the time at which it begins."""
    parts: list[tuple[int, list[str]]] = []
    for cue in cues:
        if not parts or cue.start_s - parts[-1][0] >= PARAGRAPH_S:
            parts.append((cue.start_s, []))
        parts[-1][1].append(cue.text)
    return [
        f"[{clock(start_s)}] {plain_line(' '.join(texts), MAX_LINE)}" for start_s, texts in parts
    ]


def clock(seconds: int) -> str:
    """`1:02:03`, or `2:03` below an hour."""
    minutes, rest = divmod(max(seconds, 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
