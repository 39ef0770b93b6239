"""Learned word scores: how much the words of class names, ids and short texts indicate main content."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
STEM = re.compile(
    r"related|recommend|similar|popular|trending|comment|discuss|reply|article|content|story|entry|description|product|"
    r"review|sidebar|footer|header|menu|breadcrumb|newsletter|subscri|share|social|promo|sponsor|advert|banner|"
    r"widget|cookie|consent|popup|modal|author|byline|caption|copyright|categor|archive|gallery|search|login|thread|"
    r"message|answer|question|summary|detail|price|rating|toolbar|teaser|headline|paragraph|title|body|post"
)
LONG_NAME = 8
"""A word with at least this many letters may be several words written as one."""
WORD = re.compile(r"[^\W\d_]+")
LETTERS_OR_SPACE = bytes(code if chr(code).isalpha() else ord(" ") for code in range(256))
"""Translation table that splits ASCII text like `WORD`, but faster."""
FIRST_WORDS = 10
SHORT_TEXT = 90
MAX_CACHED = 20_000

ScoreRange = tuple[float, float]
"""The lowest and the highest score, zero included."""


@dataclass(slots=True, eq=False)
class Lexicon:
    """Word scores: positive for words that indicate content, negative for boilerplate. Caches the scores of names."""

    names: dict[str, float] = field(default_factory=dict)
    """Scores of words in class names and ids."""
    words: dict[str, float] = field(default_factory=dict)
    """Scores of words at the start of short texts."""
    _by_name: dict[str, ScoreRange] = field(default_factory=dict, init=False)
    _by_part: dict[str, ScoreRange] = field(default_factory=dict, init=False)

    def score_names(self, names: str) -> ScoreRange:
        """The score range over all words of these space-separated class names.

        Two caches: elements of one page share single names more often than whole lists of names, and pages share the
        parts of names.
        """
        cached = self._by_name
        low = high = 0.0
        for name in names.split():
            lowest, highest = cached.get(name) or _memoise(cached, name, self._score_name)
            if lowest < low:
                low = lowest
            if highest > high:
                high = highest
        return low, high

    def _score_name(self, name: str) -> ScoreRange:
        cached = self._by_part
        low = high = 0.0
        for part in NAME_WORD.findall(name):
            lowest, highest = cached.get(part) or _memoise(cached, part, self._score_part)
            low, high = min(low, lowest), max(high, highest)
        return low, high

    def _score_part(self, part: str) -> ScoreRange:
        scores = [self.names.get(word, 0.0) for word in name_words(part)]
        return min(0.0, 0.0, *scores), max(0.0, 0.0, *scores)


def _memoise(
    cache: dict[str, ScoreRange], key: str, compute: Callable[[str], ScoreRange]
) -> ScoreRange:
    """Compute and cache a value; a full cache is emptied first."""
    if len(cache) > MAX_CACHED:
        cache.clear()
    found = cache[key] = compute(key)
    return found


def name_words(names: str) -> tuple[str, ...]:
    """The lower-case words of class names and ids, and the stems found in long words."""
    words = [word.lower() for word in NAME_WORD.findall(names) if len(word) > 1]
    stems = [stem for word in words if len(word) >= LONG_NAME for stem in STEM.findall(word)]
    return tuple(dict.fromkeys(words + stems))


def first_words(text: str) -> list[str]:
    """The first words of a short text in lower case; an empty list for a long text."""
    if len(text) > SHORT_TEXT:
        return []
    lower = text.lower()
    if not lower.isascii():
        return WORD.findall(lower)[:FIRST_WORDS]
    return lower.encode().translate(LETTERS_OR_SPACE).decode().split()[:FIRST_WORDS]
