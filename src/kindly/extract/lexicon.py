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
FIRST_WORDS = 10
SHORT_TEXT = 90
MAX_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How much words speak for content (above nought) or against it."""

    names: dict[str, float] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)
    _seen: dict[str, tuple[float, float]] = field(default_factory=dict)
    _single: dict[str, tuple[float, float]] = field(default_factory=dict)

    def of_names(self, names: str) -> tuple[float, float]:
        """The lowest and the highest score among the words of these class names, and nought."""
        found = self._seen.get(names)
        if found is None:
            if len(self._seen) > MAX_REMEMBERED:
                self._seen.clear()
            scores = [self._of_name(name) for name in names.split()]
            found = (
                min((low for low, _ in scores), default=0.0),
                max((high for _, high in scores), default=0.0),
            )
            self._seen[names] = found
        return found

    def _of_name(self, name: str) -> tuple[float, float]:
        """The same of a single name: pages have many of these in common, and few whole lists of them."""
        found = self._single.get(name)
        if found is None:
            if len(self._single) > MAX_REMEMBERED:
                self._single.clear()
            scores = [self.names.get(word, 0.0) for word in name_words(name)]
            found = (min(0.0, 0.0, *scores), max(0.0, 0.0, *scores))
            self._single[name] = found
        return found


@lru_cache(maxsize=8192)
def name_words(names: str) -> tuple[str, ...]:
    """The words that class names and ids are made of, in small letters."""
    words = [word.lower() for word in NAME_WORD.findall(names) if len(word) > 1]
    stems = [stem for word in words if len(word) >= LONG_NAME for stem in STEM.findall(word)]
    return tuple(dict.fromkeys(words + stems))


def first_words(text: str) -> list[str]:
    """The words a short text begins with, in small letters; none of a long one."""
    return WORD.findall(text.lower())[:FIRST_WORDS] if len(text) <= SHORT_TEXT else []
