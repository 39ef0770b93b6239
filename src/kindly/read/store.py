"""The protocol of stores, which keep the library's pages in a database.

A store keeps pages as chunks with their terms and vectors. It does not rank: it returns all of one page, or candidate
chunks for a question over all pages; `kindly.read.ranking` ranks them.
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kindly.frozen import frozen
from kindly.models import Chunk, RecallScope, StoredPageInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kindly.read.crawls.collection import Crawls
    from kindly.read.evidence.page_versions import FormerVersion

    Vectors = NDArray[np.float32]


logger = logging.getLogger(__name__)

NAMED_SHARE = 4
"""Of as many candidates as by words, this part is added by the words of titles and addresses."""


@frozen
class StoredPage:
    """One page of the library: its chunks in order, and a vector of length one for each."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    vectors: "Vectors | None"
    """One row per chunk; None if any chunk has no vector yet."""


@frozen
class PreparedPage:
    """A page to store, with all that is computed from its text, as bytes and strings that are stored as they are."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    terms: Mapping[str, str] = field(repr=False)
    """The terms that the word search uses, separated by spaces, by chunk id."""
    halves: Mapping[str, bytes] = field(repr=False)
    """The vectors in half precision, little-endian, by chunk id; empty if there are none."""
    model: "EmbeddingModel | None" = None
    """What made the vectors."""


@frozen
class PageVersion:
    """Which version of a page a store has."""

    content_hash: str
    crawled_at: datetime
    complete: bool
    """Whether every chunk has a vector."""


@frozen
class Candidate:
    """A chunk that may answer a question to the whole library."""

    entry: StoredPageInfo
    chunk: Chunk
    vector: "Vectors | None"
    outline: bytes | None = field(default=None, repr=False)
    """The outline of its page (`kindly.read.pages.page_outline`); None if an older version stored the page."""


@frozen
class EmbeddingModel:
    """The model that made a store's vectors."""

    name: str
    dimension: int


@frozen
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
    """A database of pages. Every method raises `StoreUnavailable` if retries do not help.

    A page is named by its key (`StoredPageInfo.key`), which is its address unless it belongs to a collection.
    """

    @property
    def crawls(self) -> "Crawls":
        """The collections, and the queues of their pages."""
        ...

    async def model(self) -> EmbeddingModel | None:
        """The model of its vectors; None before the first vector."""
        ...

    async def page(self, url: str) -> StoredPage | None:
        """A page with all its chunks."""
        ...

    async def put(
        self,
        entry: StoredPageInfo,
        chunks: Sequence[Chunk],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
    ) -> None:
        """Store a page as exactly these chunks, in one transaction. It is durable on return.

        Chunks that are stored already keep their vector; `vectors` has those of new ones, by id. `model` made them; the
        first model stays until `drop_vectors`.

        Raises:
            ModelMismatch: the store holds another model's vectors.
        """
        ...

    async def put_all(self, pages: Sequence[PreparedPage]) -> None:
        """Store several pages as `put` does, in one transaction. They are durable on return.

        Raises:
            ModelMismatch: the store holds another model's vectors.
        """
        ...

    async def versions(self, urls: Sequence[str]) -> dict[str, PageVersion]:
        """The stored version of each of these pages that is stored."""
        ...

    async def touch(self, url: str, crawled_at: datetime) -> None:
        """Set the time of a page that was checked and is unchanged."""
        ...

    async def candidates(
        self,
        terms: Sequence[str],
        vector: "Vectors | None",
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> list[Candidate]:
        """Up to `limit` chunks of a scope by words and up to `limit` by vector, without duplicates, in no order.

        In addition, the first chunks of a few pages that have these words in their title or address.
        """
        ...

    async def entries(
        self, *, limit: int = 100, offset: int = 0, collection: str = ""
    ) -> list[StoredPageInfo]:
        """Pages, newest first; of one collection, if given."""
        ...

    def pages(self) -> AsyncIterator[StoredPage]:
        """Every page, for export, migration and rebuild."""
        ...

    async def forget(self, url: str | None = None) -> int:
        """Drop a page, or all; return how many there were."""
        ...

    async def forget_collection(self, collection: str) -> int:
        """Drop the pages of a collection; return how many there were."""
        ...

    async def former(self, url: str) -> "list[FormerVersion]":
        """The former versions of a page that are kept, the newest first: those that another text replaced."""
        ...

    async def drop_vectors(self) -> None:
        """Drop all vectors and the model, so that another model can fill the store."""
        ...

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        """Drop pages fetched before that time, then the oldest until the rest fits; return how many.

        Pages of collections stay: they are dropped with their collection.
        """
        ...

    async def stats(self) -> StoreStats:
        """Size and age of the library."""
        ...

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """An exclusive lock on a page among all processes that share the store, as far as the database allows."""
        ...

    async def aclose(self) -> None:
        """Close all files and connections."""
        ...


@frozen
class StoreSettings:
    """What a store needs to open."""

    data_dir: Path | None
    """None: keep pages in memory, if the store can."""
    url: str = field(default="", repr=False)
    """The URL of a database server, credentials included."""


def log_opening(kind: str, place: str) -> None:
    """Log that a store was opened: at level debug, with a path or an address without credentials."""
    logger.debug("store opened", extra={"kind": kind, "place": place})
