"""Learned word scores: how much the words of class names, ids and short texts indicate main content."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
END = "\0"
"""Between names: HTML has no such character."""
LETTERS_SPACE_OR_END = bytes(
    code if code < 128 and (chr(code).isalpha() or chr(code) == END) else ord(" ")
    for code in range(256)
)
STEMS = """
    related recommend similar popular trending comment discuss reply article content story entry description product
    review sidebar footer header menu breadcrumb newsletter subscri share social promo sponsor advert banner widget
    cookie consent popup modal author byline caption copyright categor archive gallery search login thread message
    answer question summary detail price rating toolbar teaser headline paragraph title body post
"""


def _one_of(words: list[str]) -> str:
    """A pattern of these words, none of which starts with another, grouped by first letter, which is faster."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())


STEM = re.compile(_one_of(STEMS.split()))
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
    """Word scores: positive for words that indicate content, negative for boilerplate."""

    names: dict[str, float] = field(default_factory=dict)
    """Scores of words in class names and ids."""
    words: dict[str, float] = field(default_factory=dict)
    """Scores of words at the start of short texts."""
    _by_name: dict[str, ScoreRange] = field(default_factory=dict, init=False)
    _by_part: dict[str, ScoreRange] = field(default_factory=dict, init=False)

    def score_names(self, lists: Iterable[str]) -> list[ScoreRange]:
        """For each list of class names, separated by spaces, the score range over all words of its names.

        Two caches: elements of one page share single names more often than whole lists of names, and pages share the
        parts of names.
        """
        split = [names.split() for names in lists]
        cached = self._by_name
        if len(cached) > MAX_CACHED:
            cached.clear()
        new = {name for names in split for name in names if name not in cached}
        cached.update(zip(new, self._score_new(new), strict=True))
        scores: list[ScoreRange] = []
        for names in split:
            low = high = 0.0
            for name in names:
                lowest, highest = cached[name]
                if lowest < low:
                    low = lowest
                if highest > high:
                    high = highest
            scores.append((low, high))
        return scores

    def _score_new(self, names: Collection[str]) -> Iterator[ScoreRange]:
        """The score range of each name; all names are split into runs of letters at once, which is faster."""
        if not names:
            return
        cached = self._by_part
        joined = END.join(names).encode("utf-8", "surrogatepass")
        for letters in joined.translate(LETTERS_SPACE_OR_END).decode().split(END):
            low = high = 0.0
            for part in letters.split():
                lowest, highest = cached.get(part) or self._score_part(part)
                if lowest < low:
                    low = lowest
                if highest > high:
                    high = highest
            yield low, high

    def _score_part(self, part: str) -> ScoreRange:
        """Compute and cache the scores of a run of letters; a full cache is emptied first."""
        cached, scores = self._by_part, self.names
        if len(cached) > MAX_CACHED:
            cached.clear()
        low = high = 0.0
        for word in [part] if part.islower() else map(str.lower, NAME_WORD.findall(part)):
            for one in _with_stems(word):
                score = scores.get(one, 0.0)
                if score < low:
                    low = score
                elif score > high:
                    high = score
        found = cached[part] = low, high
        return found


def _with_stems(word: str) -> list[str]:
    """A word of a name, and the stems in it if it is long; none if it is a single letter."""
    if len(word) < 2:
        return []
    return [word, *STEM.findall(word)] if len(word) >= LONG_NAME else [word]


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
