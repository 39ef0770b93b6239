"""Generated pages for the benchmarks of stores: realistic word frequencies, and vectors that follow the words."""

import hashlib
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from tests.support.stored_pages import Made

from kindly.models import Chunk, StoredPageInfo
from kindly.read.store import EmbeddingModel

WORDS = 60_000
CHUNK_WORDS = 120
QUESTION_WORDS = 6
DIMENSION = 256
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Question:
    """A question to the library."""

    text: str
    vector: Vectors


@dataclass(frozen=True)
class NewPage(Made):
    """A page with vectors of its words."""

    made_vectors: dict[str, Vectors] = field(default_factory=dict)

    @property
    def vectors(self) -> dict[str, Vectors]:
        """A vector for each chunk."""
        return self.made_vectors


class Library:
    """Generates pages and questions, and keeps the vectors for the exact result."""

    model = EmbeddingModel("made-up-256", DIMENSION)

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        ranks = np.arange(1, WORDS + 1)
        self._share = np.cumsum(1 / ranks) / (1 / ranks).sum()
        words = np.random.default_rng(7).standard_normal((WORDS, DIMENSION)).astype(np.float32)
        self._word_vectors = words * np.log1p(ranks)[:, None].astype(np.float32) / 10
        self._ids: list[str] = []
        self._vectors: list[Vectors] = []
        self._stacked: Vectors | None = None

    def url(self, name: str) -> str:
        """The address of a page."""
        return f"https://bench.example/{name}"

    def page(self, name: str, chunks: int, version: int) -> NewPage:
        """A page with that number of chunks; its title is its version."""
        url = self.url(name)
        drawn = np.searchsorted(self._share, self._chance.random((chunks, CHUNK_WORDS)))
        made, vectors, start = [], {}, 0
        for numbers in drawn:
            text = " ".join(f"w{number}" for number in numbers)
            id_ = hashlib.sha256(f"{url}|{text}".encode()).hexdigest()
            made.append(Chunk(id_, url, text, start, start + len(text), ("Guide",), CHUNK_WORDS))
            vectors[id_] = self._vector(numbers)
            start += len(text) + 1
        self._ids += vectors
        self._vectors += vectors.values()
        return NewPage(StoredPageInfo(url, f"v{version}", NOON, "", start), tuple(made), vectors)

    def question(self, chance: random.Random) -> Question:
        """A question of a few words, frequent ones and rare ones."""
        numbers = [int(WORDS ** chance.random()) - 1 for _ in range(QUESTION_WORDS)]
        text = " ".join(f"w{number}" for number in numbers)
        return Question(text, self._vector(np.array(numbers)))

    def nearest(self, vector: Vectors, count: int) -> set[str]:
        """The ids of the nearest chunks by exact cosine."""
        if self._stacked is None or len(self._stacked) != len(self._vectors):
            self._stacked = np.stack(self._vectors)
        alike = self._stacked @ vector
        return {self._ids[place] for place in np.argsort(-alike)[:count]}

    def _vector(self, numbers: NDArray[np.int64]) -> Vectors:
        total: Vectors = self._word_vectors[numbers].sum(axis=0)
        return total / np.linalg.norm(total)
