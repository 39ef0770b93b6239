"""Whether a text that a server returned has the evidence for an answer.

Texts are compared by their letters and digits only, without the targets of links, so no server has an advantage by the
way in which it writes Markdown.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

PROBE = 48
"""Letters that identify a place on a page."""
ENOUGH = 300
"""Letters of long evidence that are enough; or half of it."""
ROW_SHARE = 0.8
"""The share of a row's cells that must stand beside the cell that answers."""
ROW_SLACK = 40
"""Letters between the cells of a row that are not the row's: marks of footnotes, names of columns."""
CHARS_PER_TOKEN = 4
_LINK = re.compile(r"\]\((?:[^()\s]|\([^)]*\))*(?:\s\"[^\"]*\")?\)")
_FOOTNOTE = re.compile(r"\[\^?\w{1,3}\]")
_JUNK = re.compile(r"[\W_]+")
_BREAK = re.compile(r"[.!?](?=\s)|\n|\|")


def plain(text: str) -> str:
    """Letters and digits only, in lower case, without the targets of links."""
    text = _FOOTNOTE.sub("", _LINK.sub("]", text))
    return _JUNK.sub("", unicodedata.normalize("NFKC", text).lower())


class Evidence(Protocol):
    """What must arrive before a question can be answered."""

    def found_in(self, text: str) -> bool:
        """Whether it is in a text that `plain` returned."""
        ...


@dataclass(frozen=True, slots=True)
class Spans:
    """One of several places on a page; each is a row of probes, and so many of them are enough."""

    places: tuple[tuple[tuple[str, ...], int], ...]

    def found_in(self, text: str) -> bool:
        return any(
            sum(probe in text for probe in probes) >= needed for probes, needed in self.places
        )


@dataclass(frozen=True, slots=True)
class TableRow:
    """The row of a table that has the answer in one of its cells."""

    answer: str
    cells: tuple[str, ...]

    def found_in(self, text: str) -> bool:
        reach = sum(map(len, self.cells)) + ROW_SLACK
        wanted = ROW_SHARE * len(self.cells)
        at = text.find(self.answer)
        while at >= 0:
            near = text[max(0, at - reach) : at + len(self.answer) + reach]
            if sum(cell in near for cell in self.cells) >= wanted:
                return True
            at = text.find(self.answer, at + 1)
        return False


def spans(page: str, offsets: Sequence[tuple[int, int]]) -> Spans:
    """Evidence from its offsets in a page."""
    return Spans(tuple(_place(page, start, end) for start, end in offsets))


def _place(page: str, start: int, end: int) -> tuple[tuple[str, ...], int]:
    core = plain(page[start:end])
    if len(core) < PROBE:
        return (plain(_widened(page, start, end)),), 1
    probes = tuple(core[at : at + PROBE] for at in range(0, len(core) - PROBE + 1, PROBE))
    return probes, max(1, round(min(len(core) / 2, ENOUGH) / PROBE))


def _widened(page: str, start: int, end: int) -> str:
    """A short answer with the words beside it, inside its own sentence: alone it may stand anywhere."""
    first = max((m.end() for m in _BREAK.finditer(page, max(0, start - 400), start)), default=0)
    after = _BREAK.search(page, end)
    last = after.start() if after else len(page)
    while len(plain(page[start:end])) < PROBE and (start > first or end < last):
        start, end = max(first, start - 3), min(last, end + 3)
    return page[start:end]


def tokens_until(text: str, evidence: Evidence) -> int | None:
    """After how many tokens of a text the evidence has arrived; None if it has not."""

    def arrived(tokens: int) -> bool:
        cut = raw[: tokens * CHARS_PER_TOKEN].decode("utf-8", "ignore")
        return evidence.found_in(plain(cut))

    raw = text.encode("utf-8", "replace")
    low, high = 0, -(-len(raw) // CHARS_PER_TOKEN)
    if not arrived(high):
        return None
    return _first(arrived, low, high)


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The lowest number for which it holds; it holds for `high`, and for all above the lowest."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
