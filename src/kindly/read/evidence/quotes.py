"""Does a text say what a quote says? Exactly, nearly (with the words that differ), or not at all. Pure.

Words, numbers and signs are compared in order; punctuation, white space and Markdown are not. A changed number, name or
negation is a changed word: it is never exact, and a near match lists it.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from kindly.frozen import frozen
from kindly.read.evidence.stored_text import headings_above

TOKEN = re.compile(
    r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)"  # the address of a link
    r"|(?<![\w.])[-−+]\d+(?:[.,:/-]\d+)*|\d+(?:[.,:/-]\d+)*"  # numbers, dates, times, with their sign
    r"|\w+(?:\\_\w+)*|!=|==|<=|>=|->|[%€$£¥°+<>=≠≤≥≈±&@^]|!(?=\w)"
)
NEGATIONS = frozenset(
    {
        "not",
        "no",
        "never",
        "none",
        "nor",
        "without",
        "cannot",
        "t",
        "n't",
        "non",
        "neither",
        "nothing",
        "!",
        "!=",
    }
)
NEAR = 0.72
"""The share of words that a near match has in common with the quote."""
MIN_SHARED = 3
WINDOWS = 6
"""Places of a text that are compared word by word."""


class Verdict(StrEnum):
    """How a text relates to a quote."""

    EXACT = "exact"
    NEAR = "near"
    ALTERED = "altered"
    """A former version of the page says it, the current one does not."""
    ABSENT = "absent"


@frozen
class Difference:
    """Words of the quote, and what the text has in their place; either may be empty."""

    quoted: str
    found: str
    kind: str = "word"
    """`number`, `negation`, `name` or `word`."""


@frozen
class QuoteMatch:
    """The place of a text that is closest to a quote."""

    verdict: Verdict
    text: str = ""
    start: int = 0
    end: int = 0
    section: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    score: float = 0.0


@frozen
class _Word:
    value: str
    start: int
    end: int


def check_quote(quote: str, text: str) -> QuoteMatch:
    """The best match of a quote in a text."""
    wanted = _words(quote)
    found = _words(text)
    if not wanted or not found:
        return QuoteMatch(Verdict.ABSENT)
    values = [word.value for word in wanted]
    places: dict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(found):
        places[word.value].append(number)
    if (first := _exact_place(values, found, places)) is not None:
        return _match(Verdict.EXACT, text, found, first, first + len(values))
    best = QuoteMatch(Verdict.ABSENT)
    for first in _likely_places(values, places):
        match = _compared(wanted, found, first, text)
        if match.score > best.score:
            best = match
    return best


def _words(text: str) -> list[_Word]:
    words = []
    for found in TOKEN.finditer(text):
        if found[0].startswith("]("):
            continue
        value = unicodedata.normalize("NFKC", found[0]).replace("\\", "").replace("−", "-")
        value = value.strip("_") or value
        words.append(_Word(value, found.start(), found.end()))
    return words


def _exact_place(
    values: Sequence[str], found: Sequence[_Word], places: dict[str, list[int]]
) -> int | None:
    """Where the words stand in this order; the case of the first letter does not matter."""
    spellings = {values[0], values[0].lower(), values[0][:1].upper() + values[0][1:]}
    rare = min(range(len(values)), key=lambda n: len(places.get(values[n], ())) if n else 10**9)
    anchors = (
        [place - rare for place in places.get(values[rare], ())]
        if rare
        else sorted(place for one in spellings for place in places.get(one, ()))
    )
    for first in anchors:
        window = found[max(first, 0) : first + len(values)]
        if first < 0 or len(window) < len(values) or window[0].value not in spellings:
            continue
        if all(word.value == value for word, value in zip(window[1:], values[1:], strict=True)):
            return first
    return None


def _likely_places(values: Sequence[str], places: dict[str, list[int]]) -> list[int]:
    """Where a window would have most words of the quote, rare words counting more."""
    votes: Counter[int] = Counter()
    size = max(4, len(values) // 2)
    for number, value in enumerate(values):
        where = places.get(value, ())
        weight = 1 / (1 + len(where))
        for place in where:
            bucket = (place - number) // size
            votes[bucket] += weight  # type: ignore[assignment]  # a Counter of floats
            votes[bucket + 1] += weight / 2  # type: ignore[assignment]
    return [max(0, bucket * size - 2) for bucket, _ in votes.most_common(WINDOWS)]


def _compared(wanted: Sequence[_Word], found: Sequence[_Word], first: int, text: str) -> QuoteMatch:
    window = found[first : first + 2 * len(wanted) + 12]
    quoted, said = [word.value for word in wanted], [word.value for word in window]
    matcher = SequenceMatcher(None, quoted, said, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    shared = sum(block.size for block in blocks)
    if shared < min(MIN_SHARED, len(wanted)):
        return QuoteMatch(Verdict.ABSENT)
    start, end = blocks[0].b, blocks[-1].b + blocks[-1].size
    start = max(0, start - blocks[0].a)
    end = min(len(window), end + len(wanted) - blocks[-1].a - blocks[-1].size)
    score = 2 * shared / (len(wanted) + end - start)
    differences = tuple(_differences(quoted, said[start:end]))
    if score < NEAR or not differences:
        return QuoteMatch(Verdict.ABSENT, score=min(score, NEAR - 0.01))
    near = _match(Verdict.NEAR, text, found, first + start, first + end)
    return QuoteMatch(
        near.verdict, near.text, near.start, near.end, near.section, differences, score
    )


def _differences(quoted: Sequence[str], said: Sequence[str]) -> list[Difference]:
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, quoted, said, autojunk=False).get_opcodes():
        if kind != "equal":
            ours, theirs = " ".join(quoted[a:b]), " ".join(said[c:d])
            found.append(Difference(ours, theirs, _kind([*quoted[a:b], *said[c:d]])))
    return found


def _kind(words: Sequence[str]) -> str:
    if any(word.lower() in NEGATIONS for word in words):
        return "negation"
    if any(character.isdigit() for word in words for character in word):
        return "number"
    return "name" if any(word[:1].isupper() for word in words) else "word"


def _match(verdict: Verdict, text: str, found: Sequence[_Word], first: int, end: int) -> QuoteMatch:
    start, stop = found[first].start, found[end - 1].end
    section = headings_above(text, start)
    return QuoteMatch(verdict, text[start:stop], start, stop, section, score=1.0)
