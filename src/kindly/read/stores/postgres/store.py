"""PostgreSQL with pgvector: one library for any number of servers. Words by a GIN index, vectors by an HNSW index."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread

from kindly.concurrency.key_locks import KeyLocks
from kindly.models import Chunk, RecallScope, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.collection import Crawls
from kindly.read.crawls.crawl_sql import Execute, SqlCrawls
from kindly.read.evidence.page_versions import FormerVersion
from kindly.read.store import (
    Candidate,
    EmbeddingModel,
    PageVersion,
    PreparedPage,
    StoredPage,
    StoreStats,
)
from kindly.read.stores.postgres import rows as sql
from kindly.read.stores.postgres.pool import Postgres
from kindly.read.stores.postgres.search import WordCounts, candidates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Value = TypeVar("Value")


class PostgresStore:
    """A `Store` on a PostgreSQL server."""

    def __init__(
        self,
        url: str,
        *,
        migrations: Sequence[str] = sql.MIGRATIONS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = Postgres(url, migrations)
        self._counts = WordCounts(clock)
        self._locks = KeyLocks()
        self.crawls: Crawls = SqlCrawls(sql.CRAWLS, self._run_crawls, self._run_crawls)

    async def _run_crawls(self, work: Callable[[Execute], Value]) -> Value:
        return await self._server.run(lambda connection: work(sql.executor(connection)))

    async def model(self) -> EmbeddingModel | None:
        return await self._server.run(sql.model_of)

    async def page(self, url: str) -> StoredPage | None:
        return await self._server.run(partial(sql.page_of, url))

    async def put(
        self,
        entry: StoredPageInfo,
        chunks: Sequence[Chunk],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
    ) -> None:
        kept = row_format.storable_chunks(chunks)
        known = row_format.storable_entry(entry)
        page = await anyio.to_thread.run_sync(
            lambda: sql.new_page(known, kept, sql.terms_of(kept), vectors, model)
        )
        await self._server.run(partial(sql.put, page))

    async def put_all(self, pages: Sequence[PreparedPage]) -> None:
        await self._server.run(partial(sql.put_all, pages))

    async def versions(self, urls: Sequence[str]) -> dict[str, PageVersion]:
        return await self._server.run(partial(sql.versions, urls))

    async def touch(self, url: str, crawled_at: datetime) -> None:
        await self._server.run(partial(sql.touch, url, crawled_at))

    async def candidates(
        self,
        terms: Sequence[str],
        vector: "Vectors | None",
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> list[Candidate]:
        find = partial(candidates, terms, vector, limit, self._counts, scope)
        return await self._server.run(find)

    async def entries(
        self, *, limit: int = 100, offset: int = 0, collection: str = ""
    ) -> list[StoredPageInfo]:
        return await self._server.run(partial(sql.entries, limit, offset, collection))

    async def pages(self) -> AsyncIterator[StoredPage]:
        number = 0
        while (found := await self._server.run(partial(sql.next_page, number))) is not None:
            number, stored = found
            yield stored

    async def forget(self, url: str | None = None) -> int:
        return await self._server.run(partial(sql.forget, url))

    async def forget_collection(self, collection: str) -> int:
        return await self._server.run(partial(sql.forget_collection, collection))

    async def former(self, url: str) -> list[FormerVersion]:
        return await self._server.run(partial(sql.former_versions, url))

    async def drop_vectors(self) -> None:
        await self._server.run(sql.drop_vectors)

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        return await self._server.run(partial(sql.evict, max_bytes, before))

    async def stats(self) -> StoreStats:
        return await self._server.run(partial(sql.stats, self._server.place))

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """An advisory lock on the server; it ends with the connection."""
        return self._lock_page(url)

    @asynccontextmanager
    async def _lock_page(self, url: str) -> AsyncIterator[None]:
        async with self._locks(url):
            await self._server.acquire_lock(url)
            try:
                yield
            finally:
                await self._server.release_lock(url)

    async def aclose(self) -> None:
        await self._server.aclose()
