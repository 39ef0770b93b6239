"""Generated pages for a store; the same input gives the same page."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from kindly.models import Chunk, StoredPageInfo
from kindly.read.store import EmbeddingModel

NOON = datetime(2026, 11, 16, 12, 0, 0, 123456, tzinfo=UTC)
DIMENSION = 64
MODEL = EmbeddingModel("made-up-64", DIMENSION)

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Made:
    """A page to put into a store."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]

    @property
    def vectors(self) -> dict[str, Vectors]:
        """A vector for each chunk."""
        return {chunk.id: vector(chunk.text) for chunk in self.chunks}


def vector(text: str, dimension: int = DIMENSION) -> Vectors:
    """A unit vector that depends on the text only."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    numbers = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return numbers / np.linalg.norm(numbers)


def page(
    name: str,
    texts: Sequence[str],
    *,
    crawled_at: datetime = NOON,
    section: tuple[str, ...] = ("Guide",),
) -> Made:
    """A page of these texts, one chunk each."""
    url = f"https://site.example/{name}"
    chunks, start = [], 0
    for text in texts:
        id_ = hashlib.sha256(f"{url}|{section}|{text}".encode()).hexdigest()
        end = start + len(text)
        chunks.append(Chunk(id_, url, text, start, end, section, tokens=len(text.split())))
        start = end + 2
    entry = StoredPageInfo(url, f"Title of {name}", crawled_at, f"hash of {texts}", total=start)
    return Made(entry, tuple(chunks))


def days(count: float) -> timedelta:
    """A time span."""
    return timedelta(days=count)
