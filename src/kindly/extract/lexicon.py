"""Words → how much they speak for content, in names of elements and at the beginning of short texts."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
WORD = re.compile(r"[^\W\d_]+")
FIRST_WORDS = 10
SHORT_TEXT = 90
MAX_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How much words speak for content (above nought) or against it."""

    names: dict[str, float] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)
    _seen: dict[str, tuple[float, float]] = field(default_factory=dict)

    def of_names(self, names: str) -> tuple[float, float]:
        """The lowest and the highest score among the words of these class names, and nought."""
        found = self._seen.get(names)
        if found is None:
            if len(self._seen) > MAX_REMEMBERED:
                self._seen.clear()
            scores = [self.names.get(word, 0.0) for word in name_words(names)]
            found = (min(0.0, 0.0, *scores), max(0.0, 0.0, *scores))
            self._seen[names] = found
        return found


@lru_cache(maxsize=8192)
def name_words(names: str) -> tuple[str, ...]:
    """The words that class names and ids are made of, in small letters."""
    return tuple(dict.fromkeys(word.lower() for word in NAME_WORD.findall(names) if len(word) > 1))


def first_words(text: str) -> list[str]:
    """The words a short text begins with, in small letters; none of a long one."""
    return WORD.findall(text.lower())[:FIRST_WORDS] if len(text) <= SHORT_TEXT else []
