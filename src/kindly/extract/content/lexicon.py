"""Words → how much they speak for content, in names of elements and at the beginning of short texts."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
STEM = re.compile(
    r"related|recommend|similar|popular|trending|comment|discuss|reply|article|content|story|entry|description|product|"
    r"review|sidebar|footer|header|menu|breadcrumb|newsletter|subscri|share|social|promo|sponsor|advert|banner|"
    r"widget|cookie|consent|popup|modal|author|byline|caption|copyright|categor|archive|gallery|search|login|thread|"
    r"message|answer|question|summary|detail|price|rating|toolbar|teaser|headline|paragraph|title|body|post"
)
LONG_NAME = 8
"""Letters from which on a word may be several, written as one."""
WORD = re.compile(r"[^\W\d_]+")
ONLY_LETTERS = bytes(code if chr(code).isalpha() else ord(" ") for code in range(256))
"""Takes ASCII apart in the same way, and faster."""
FIRST_WORDS = 10
SHORT_TEXT = 90
MAX_REMEMBERED = 20_000

Range = tuple[float, float]
"""A lowest and a highest score."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How much words speak for content (above nought) or against it."""

    names: dict[str, float] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)
    _names: dict[str, Range] = field(default_factory=dict)
    _parts: dict[str, Range] = field(default_factory=dict)

    def of_names(self, names: str) -> Range:
        """The lowest and the highest score among the words of these class names, and nought."""
        known = self._names
        low = high = 0.0
        for name in names.split():
            lowest, highest = known.get(name) or self._of_name(name)
            if lowest < low:
                low = lowest
            if highest > high:
                high = highest
        return low, high

    def _of_name(self, name: str) -> Range:
        """The same of a single name: elements of a page have many of these in common, and few whole lists of them."""
        if len(self._names) > MAX_REMEMBERED:
            self._names.clear()
        low = high = 0.0
        for part in NAME_WORD.findall(name):
            lowest, highest = self._parts.get(part) or self._of_part(part)
            low, high = min(low, lowest), max(high, highest)
        found = self._names[name] = (low, high)
        return found

    def _of_part(self, part: str) -> Range:
        """The same of a part of a name: these all pages have in common."""
        if len(self._parts) > MAX_REMEMBERED:
            self._parts.clear()
        word = part.lower()
        words = (word, *_stems(word)) if len(word) > 1 else ()
        scores = [self.names.get(word, 0.0) for word in words]
        found = self._parts[part] = (min(0.0, 0.0, *scores), max(0.0, 0.0, *scores))
        return found


@lru_cache(maxsize=8192)
def name_words(names: str) -> tuple[str, ...]:
    """The words that class names and ids are made of, in small letters, and the stems of long ones."""
    words = [word.lower() for word in NAME_WORD.findall(names) if len(word) > 1]
    stems = [stem for word in words for stem in _stems(word)]
    return tuple(dict.fromkeys(words + stems))


def _stems(word: str) -> list[str]:
    return STEM.findall(word) if len(word) >= LONG_NAME else []


def first_words(text: str) -> list[str]:
    """The words a short text begins with, in small letters; none of a long one."""
    if len(text) > SHORT_TEXT:
        return []
    lower = text.lower()
    if not lower.isascii():
        return WORD.findall(lower)[:FIRST_WORDS]
    return lower.encode().translate(ONLY_LETTERS).decode().split()[:FIRST_WORDS]
