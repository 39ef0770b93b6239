"""Learned word scores: how much the words of class names, ids and short texts indicate main content."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain, count, repeat

import numpy as np

from kindly.extract.content.char_counts import Floats

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
FIRST_WORDS = 10
SHORT_TEXT = 90
MAX_CACHED = 20_000
NO_RANGES = np.empty((0, 2), np.float32)


@dataclass(slots=True, eq=False)
class Lexicon:
    """Word scores: positive for words that indicate content, negative for boilerplate."""

    names: dict[str, float] = field(default_factory=dict)
    """Scores of words in class names and ids."""
    words: dict[str, float] = field(default_factory=dict)
    """Scores of words at the start of short texts."""
    _numbers: dict[str, int] = field(default_factory=dict, init=False)
    """Numbers of the runs of letters in names; pages share these more often than whole names."""
    _ranges: Floats = field(default_factory=lambda: NO_RANGES, init=False)
    """The lowest and the highest score of each."""

    def score_names(self, lists: Collection[str]) -> Floats:
        """For each of at least one list of class names the lowest and highest score of its words, zero included.

        All names are split into runs of letters at once, which is faster.
        """
        joined = END.join(lists).encode("utf-8", "surrogatepass")
        letters = joined.translate(LETTERS_SPACE_OR_END).decode().split(END)
        split = list(map(str.split, letters))
        parts = list(chain.from_iterable(split))
        numbers = self._numbers
        if new := set(parts).difference(numbers):
            numbers.update(zip(new, count(len(numbers))))
            self._ranges = np.concatenate(
                (self._ranges, np.array(list(map(self._score_part, new)), np.float32))
            )
        ranges = self._ranges.take(list(map(numbers.__getitem__, parts)), axis=0)
        counts = np.array(list(map(len, split)))
        scores = np.zeros((len(split), 2), np.float32)
        if parts:
            scored = np.flatnonzero(counts)
            starts = (np.cumsum(counts) - counts)[scored]
            scores[scored, 0] = np.minimum.reduceat(ranges[:, 0], starts)
            scores[scored, 1] = np.maximum.reduceat(ranges[:, 1], starts)
        if len(numbers) > MAX_CACHED:
            numbers.clear()
            self._ranges = NO_RANGES
        return scores

    def _score_part(self, part: str) -> tuple[float, float]:
        """The lowest and the highest score of the words in a run of letters."""
        scores = self.names
        low = high = 0.0
        for word in [part] if part.islower() else map(str.lower, NAME_WORD.findall(part)):
            for one in _with_stems(word):
                score = scores.get(one, 0.0)
                if score < low:
                    low = score
                elif score > high:
                    high = score
        return low, high

    def score_openings(self, openings: Collection[Collection[str]]) -> Floats:
        """For each list of words their mean and their lowest score; zero for an empty list."""
        counts = np.array(list(map(len, openings)))
        words = chain.from_iterable(openings)
        flat = np.array(list(map(self.words.get, words, repeat(0.0))), np.float32)
        scores = np.zeros((len(openings), 2), np.float32)
        if len(flat):
            scored = np.flatnonzero(counts)
            starts = (np.cumsum(counts) - counts)[scored]
            scores[scored, 0] = np.add.reduceat(flat, starts) / counts[scored]
            scores[scored, 1] = np.minimum.reduceat(flat, starts)
        return scores


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
    return openings_of([text])[0]


def openings_of(texts: Iterable[str]) -> list[list[str]]:
    """The first words of each short text in lower case; an empty list for a long one.

    All ASCII texts are translated at once, which is faster.
    """
    short = [text if len(text) <= SHORT_TEXT else "" for text in texts]
    joined = END.join(short)
    others: list[int] = []
    if not joined.isascii():
        others = [at for at, text in enumerate(short) if not text.isascii()]
        joined = END.join([text if text.isascii() else "" for text in short])
    letters = joined.lower().encode().translate(LETTERS_SPACE_OR_END).decode()
    openings = [words.split()[:FIRST_WORDS] for words in letters.split(END)]
    for at in others:
        openings[at] = WORD.findall(short[at].lower())[:FIRST_WORDS]
    return openings
