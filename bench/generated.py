"""Generated pages of a realistic shape, for libraries that are too large to collect.

Words follow Zipf's law over a large vocabulary; each page has topics, words that it uses far more often than others
do. Chunks have the sizes of the chunks of documentation pages: a log-normal distribution cut at the chunk size.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from kindly.models import Chunk, StoredPageInfo
from kindly.read.ranking.static_model import StaticModel

VOCABULARY = 100_000
ZIPF_SHIFT = 2.7
TOPICS = 40
"""Topic words of a page."""
TOPIC_SHARE = 0.2
"""Of the words of a page that are topic words."""
COMMON = 300
"""The most frequent words are no topic."""
PAGE_CHUNKS = 20
MEDIAN_WORDS, SIGMA, FEWEST_WORDS, MOST_WORDS = 230, 0.5, 20, 300
"""Words of a chunk: 1,500 characters at the median, about 2,000 at most."""
SENTENCE_WORDS = (4, 22)
_SYLLABLES = """
    an ba be bo ca ce co da de di do el en er es fa fe fi ga ge go ha he hi in ka ki la le li lo ma me mi mo na ne ni
    no on or pa pe po ra re ri ro sa se si so ta te ti to ul un va ve vi wa we zo
"""
SYLLABLES = _SYLLABLES.split()
WORDS_OF_SYLLABLES = (0, 60, 3_000)
"""How many of the most frequent words have one syllable, and up to two; the others have three or four."""
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class GeneratedPage:
    """A page, with the words of its chunks as numbers, and their vectors."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    words: tuple[Numbers, ...]
    vectors: Vectors


class Generator:
    """Pages and questions; the same for the same seed."""

    def __init__(self, model: StaticModel, seed: int = 16) -> None:
        self._seed = seed
        shares = 1 / (np.arange(1, VOCABULARY + 1) + ZIPF_SHIFT)
        self._cumulated = np.cumsum(shares) / shares.sum()
        self.words = _vocabulary()
        batches = range(0, VOCABULARY, 10_000)
        self._vectors = np.concatenate(
            [model.words(self.words[first : first + 10_000]) for first in batches]
        )

    def pages(self, numbers: Iterable[int]) -> Iterator[GeneratedPage]:
        """The pages with these numbers, of `PAGE_CHUNKS` chunks each."""
        return map(self.page, numbers)

    def questions(self, chunks: int, count: int) -> list[str]:
        """Distinct questions, each about three topics of a page."""
        chance = np.random.default_rng(99)
        found: dict[str, None] = {}
        while len(found) < count:
            topics = self._topics(int(chance.integers(chunks // PAGE_CHUNKS)))
            rare = [self.words[word] for word in chance.choice(topics[:12], 3, replace=False)]
            common = [self.words[word] for word in chance.integers(0, 60, 4)]
            asked = " ".join((*common[:2], *rare[:2], *common[2:], *rare[2:]))
            found[f"{asked}?"] = None
        return list(found)

    def _topics(self, page: int) -> Numbers:
        chance = np.random.default_rng((7, page))
        drawn = np.searchsorted(self._cumulated, chance.random(4 * TOPICS))
        return np.resize(drawn[drawn >= COMMON], TOPICS)

    def page(self, number: int, url: str = "", chunks: int = PAGE_CHUNKS) -> GeneratedPage:
        """One page; without a `url`, its number is its address."""
        chance = np.random.default_rng((self._seed, number))
        url = url or f"https://generated.example/{number}"
        topics = self._topics(number)
        drawn_sizes = chance.lognormal(np.log(MEDIAN_WORDS), SIGMA, chunks)
        sizes = np.clip(drawn_sizes, FEWEST_WORDS, MOST_WORDS).astype(int)
        drawn = np.searchsorted(self._cumulated, chance.random(sizes.sum()))
        swapped = chance.random(len(drawn)) < TOPIC_SHARE
        places = np.minimum(chance.exponential(8, swapped.sum()).astype(int), TOPICS - 1)
        drawn[swapped] = topics[places]
        words = tuple(np.split(drawn, np.cumsum(sizes)[:-1]))
        title = f"Guide to {self.words[topics[0]]}"
        made, start = [], 0
        for part, numbers in enumerate(words):
            text = self._prose(numbers, chance)
            section = (title, self.words[topics[part % TOPICS]])
            name = sha256(f"{url}|{part}|{text}".encode()).hexdigest()
            end = start + len(text)
            made.append(Chunk(name, url, text, start, end, section, len(text) // 4))
            start = end + 2
        vectors = np.stack([self._vectors[numbers].sum(axis=0) for numbers in words])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        entry = StoredPageInfo(url, title, NOON, f"hash {number}", start)
        return GeneratedPage(entry, tuple(made), words, vectors)

    def _prose(self, words: Numbers, chance: np.random.Generator) -> str:
        spelled = [self.words[word] for word in words.tolist()]
        lengths = chance.integers(*SENTENCE_WORDS, len(spelled) // SENTENCE_WORDS[0] + 1)
        sentences, left = [], 0
        for right in np.cumsum(lengths).tolist():
            if left >= len(spelled):
                break
            sentences.append(" ".join(spelled[left:right]).capitalize())
            left = right
        return f"{'. '.join(sentences)}."


def _vocabulary() -> list[str]:
    """Distinct words, the frequent ones short."""
    chance = np.random.default_rng(3)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        shortest = int(np.searchsorted(WORDS_OF_SYLLABLES, len(found), "right"))
        picked = chance.integers(0, len(SYLLABLES), shortest + int(chance.integers(0, 2)))
        found["".join(SYLLABLES[one] for one in picked)] = None
    return list(found)
