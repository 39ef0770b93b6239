"""Pages and questions of `bench.generated` for the benchmarks of stores, and the exact result to compare with."""

import random
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray
from tests.support.stored_pages import Made

from bench.generated import Generator
from kindly.read.ranking.prepared import with_prepared
from kindly.read.ranking.static_model import NAME, load
from kindly.read.store import EmbeddingModel
from kindly.text.terms import terms

DIMENSION = 256
QUESTIONS = 200
OF_PAGES = 20_000
"""Questions are about the topics of these chunks."""

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

    model = EmbeddingModel(NAME, DIMENSION)

    def __init__(self, seed: int) -> None:
        self._model = load()
        self._generator = Generator(self._model, seed)
        self._numbers = count()
        self._ids: list[str] = []
        self._vectors: list[Vectors] = []
        self._stacked: Vectors | None = None

    def url(self, name: str) -> str:
        """The address of a page."""
        return f"https://bench.example/{name}"

    def page(self, name: str, chunks: int, version: int) -> NewPage:
        """A page with that number of chunks, ready for ranking; its title is its version."""
        made = self._generator.page(next(self._numbers), self.url(name), chunks)
        vectors = {chunk.id: row for chunk, row in zip(made.chunks, made.vectors, strict=True)}
        self._ids += vectors
        self._vectors += vectors.values()
        entry = replace(made.entry, title=f"v{version}")
        return NewPage(entry, with_prepared(made.chunks, self._model), vectors)

    def question(self, chance: random.Random) -> Question:
        """A question with frequent and rare words."""
        return chance.choice(self.questions)

    @cached_property
    def questions(self) -> list[Question]:
        """Distinct questions."""
        texts = self._generator.questions(OF_PAGES, QUESTIONS)
        return [
            Question(text, row) for text, row in zip(texts, self._model.embed(texts), strict=True)
        ]

    def rarest(self, words: list[str], most: int) -> list[str]:
        """The least frequent of these terms."""
        return sorted(words, key=lambda word: self._ranks.get(word, 0))[-most:]

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return {
            term: rank for rank, word in enumerate(self._generator.words) for term in terms(word)
        }

    def nearest(self, vector: Vectors, most: int) -> set[str]:
        """The ids of the nearest chunks by exact cosine."""
        if self._stacked is None or len(self._stacked) != len(self._vectors):
            self._stacked = np.stack(self._vectors)
        alike = self._stacked @ vector
        return {self._ids[place] for place in np.argsort(-alike)[:most]}
