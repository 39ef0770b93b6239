"""PostgreSQL with pgvector: one library for any number of servers. Words by GIN, vectors by HNSW, pages exactly."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from kindly.concurrency.key_locks import KeyLocks
from kindly.models import Chunk, StoredPageInfo
from kindly.read import row_format
from kindly.read.store import Candidate, EmbeddingModel, StoredPage, StoreStats
from kindly.read.stores.postgres import rows as sql
from kindly.read.stores.postgres.pool import Postgres
from kindly.read.stores.postgres.search import WordCounts, candidates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class PostgresStore:
    """A library on a server; see `Store`."""

    def __init__(
        self,
        url: str,
        *,
        migrations: Sequence[str] = sql.MIGRATIONS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = Postgres(url, migrations)
        self._counts = WordCounts(clock)
        self._turns = KeyLocks()

    async def model(self) -> EmbeddingModel | None:
        """Whose vectors it holds."""
        return await self._server.run(sql.model_of)

    async def page(self, url: str) -> StoredPage | None:
        """All of a page."""
        return await self._server.run(partial(sql.page_of, url))

    async def put(
        self,
        entry: StoredPageInfo,
        chunks: Sequence[Chunk],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
    ) -> None:
        """Keep a page as these chunks and no others.

        Raises:
            ModelMismatch: the store holds another model's vectors.
        """
        kept = row_format.storable_chunks(chunks)
        words = await anyio.to_thread.run_sync(sql.words_of, kept)
        page = sql.NewPage(row_format.storable_entry(entry), kept, words, vectors, model)
        await self._server.run(partial(sql.put, page))

    async def touch(self, url: str, crawled_at: datetime) -> None:
        """Note that a page was looked at again."""
        await self._server.run(partial(sql.touch, url, crawled_at))

    async def candidates(
        self, terms: Sequence[str], vector: "Vectors | None", limit: int
    ) -> list[Candidate]:
        """Chunks by words and by vector, each once."""
        return await self._server.run(partial(candidates, terms, vector, limit, self._counts))

    async def entries(self, *, limit: int = 100, offset: int = 0) -> list[StoredPageInfo]:
        """Pages, the latest first."""
        return await self._server.run(partial(sql.entries, limit, offset))

    async def pages(self) -> AsyncIterator[StoredPage]:
        """Every page."""
        number = 0
        while (found := await self._server.run(partial(sql.next_page, number))) is not None:
            number, stored = found
            yield stored

    async def forget(self, url: str | None = None) -> int:
        """Drop a page, or all."""
        return await self._server.run(partial(sql.forget, url))

    async def drop_vectors(self) -> None:
        """Drop all vectors and the model."""
        await self._server.run(sql.drop_vectors)

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        """Drop what is old or too much."""
        return await self._server.run(partial(sql.evict, max_bytes, before))

    async def stats(self) -> StoreStats:
        """How much it holds."""
        return await self._server.run(partial(sql.stats, self._server.place))

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """Hold off everyone who shares the server, by an advisory lock that falls with the connection."""
        return self._lock_page(url)

    @asynccontextmanager
    async def _lock_page(self, url: str) -> AsyncIterator[None]:
        async with self._turns(url):
            await self._server.hold(url)
            try:
                yield
            finally:
                await self._server.let_go(url)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._server.aclose()
