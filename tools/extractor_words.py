"""Learns word scores from labelled pages: how much words in class names and short texts indicate content."""

import math
from collections import defaultdict
from collections.abc import Iterable

from kindly.extract.content.lexicon import Lexicon, first_words, name_words
from tools.extractor_pages import TrainingPage

MIN_SITES = 6
PRIOR_PAGES = 8.0
SHORT_WORDS = 12
MAX_BLOCK_WORDS = 50
"""The maximum weight of a block, in words."""


class _WordShares:
    """The mean content share of each word over pages; each page counts once."""

    def __init__(self) -> None:
        self._pages: dict[str, int] = defaultdict(int)
        self._shares: dict[str, float] = defaultdict(float)
        self._sites: dict[str, set[str]] = defaultdict(set)

    def add(self, site: str, sums: dict[str, list[float]]) -> None:
        for word, (mass, content) in sums.items():
            self._pages[word] += 1
            self._shares[word] += content / mass
            self._sites[word].add(site)

    def scores(self) -> dict[str, float]:
        """Log-odds relative to the mean of all words, for words that occur on enough sites."""
        mean = sum(self._shares.values()) / max(1, sum(self._pages.values()))
        return {
            word: round(
                _log_odds((self._shares[word] + PRIOR_PAGES * mean) / (pages + PRIOR_PAGES))
                - _log_odds(mean),
                1,
            )
            for word, pages in self._pages.items()
            if len(self._sites[word]) >= MIN_SITES
        }


def learn_words(pages: Iterable[TrainingPage]) -> Lexicon:
    """The lexicon of these pages."""
    names, words = _WordShares(), _WordShares()
    for page in pages:
        names.add(page.site, _name_sums(page))
        words.add(page.site, _word_sums(page))
    return Lexicon(names.scores(), words.scores())


def _name_sums(page: TrainingPage) -> dict[str, list[float]]:
    blocks = page.blocks
    mass, content = [0.0], [0.0]
    for tokens, share in zip(page.tokens, page.labels, strict=True):
        size = min(len(tokens), MAX_BLOCK_WORDS) + 0.1
        mass.append(mass[-1] + size)
        content.append(content[-1] + size * share)
    spans = [*zip(blocks.starts, blocks.ends, blocks.names, strict=True)]
    spans += [(at, at + 1, names) for at, names in enumerate(blocks.inner_names)]
    sums: dict[str, list[float]] = {}
    for start, end, names in spans:
        if end > start:
            for word in name_words(names):
                entry = sums.setdefault(word, [0.0, 0.0])
                entry[0] += mass[end] - mass[start]
                entry[1] += content[end] - content[start]
    return sums


def _word_sums(page: TrainingPage) -> dict[str, list[float]]:
    sums: dict[str, list[float]] = {}
    for text, tokens, share in zip(page.blocks.texts, page.tokens, page.labels, strict=True):
        if len(tokens) <= SHORT_WORDS:
            for word in set(first_words(text)):
                entry = sums.setdefault(word, [0.0, 0.0])
                entry[0] += 1
                entry[1] += share
    return sums


def _log_odds(share: float) -> float:
    bounded = min(max(share, 0.01), 0.99)
    return math.log(bounded / (1 - bounded))
