"""The library's shape: what a store takes in and gives back. Which database is behind it is its plugin's own affair.

A store keeps pages as chunks with their terms and vectors. It never ranks: it hands out all of one page, or the
candidates of a question over all pages; `rank` decides.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kindly.models import Chunk, StoredPageInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StoredPage:
    """One page as it is kept: its chunks in the page's order, and a vector of length one for each."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    vectors: "Vectors | None"
    """One row per chunk; None where any chunk has none yet."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer a question asked of the whole library."""

    entry: StoredPageInfo
    chunk: Chunk
    vector: "Vectors | None"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Whose vectors a store holds."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How much a store holds, and where."""

    kind: str
    place: str
    """A path or an address without credentials."""
    pages: int
    chunks: int
    size_bytes: int
    model: EmbeddingModel | None = None
    oldest: datetime | None = None
    newest: datetime | None = None


class Store(Protocol):
    """A library. Every method raises `StoreUnavailable` where the database fails for good."""

    async def model(self) -> EmbeddingModel | None:
        """Whose vectors it holds; None before the first."""
        ...

    async def page(self, url: str) -> StoredPage | None:
        """All of a page."""
        ...

    async def put(
        self,
        entry: StoredPageInfo,
        chunks: Sequence[Chunk],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
    ) -> None:
        """Keep a page as these chunks and no others, in one transaction.

        Chunks that are there already keep their vector; `vectors` has those of new ones, by id. `model` made them: the
        first one is kept for good. Durable when it returns.

        Raises:
            ModelMismatch: the store holds another model's vectors.
        """
        ...

    async def touch(self, url: str, crawled_at: datetime) -> None:
        """Note that a page was looked at again and is unchanged."""
        ...

    async def candidates(
        self, terms: Sequence[str], vector: "Vectors | None", limit: int
    ) -> list[Candidate]:
        """Up to `limit` chunks by words and up to `limit` by vector, each once, in no order."""
        ...

    async def entries(self, *, limit: int = 100, offset: int = 0) -> list[StoredPageInfo]:
        """Pages, the latest first."""
        ...

    def pages(self) -> AsyncIterator[StoredPage]:
        """Every page, for export, moving and rebuilding."""
        ...

    async def forget(self, url: str | None = None) -> int:
        """Drop a page, or all; how many there were."""
        ...

    async def drop_vectors(self) -> None:
        """Drop all vectors and the model, so that another may fill the store."""
        ...

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        """Drop pages crawled before then, and the oldest until the rest fits; how many."""
        ...

    async def stats(self) -> StoreStats:
        """How much it holds."""
        ...

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """Hold off everyone who shares the store from working on this page; waits its turn."""
        ...

    async def aclose(self) -> None:
        """Let go of everything."""
        ...


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """What a store needs to open."""

    data_dir: Path | None
    """None: keep pages in memory, if the store can."""
    url: str = field(default="", repr=False)
    """The URL of a database server, credentials included."""
