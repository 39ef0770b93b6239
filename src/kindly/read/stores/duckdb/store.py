"""DuckDB: one file with the tables meta, documents and chunks, which other programs can open between two uses.

Vectors are compared exactly: DuckDB's vector index is experimental on disk, and otherwise built at every opening.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from kindly.clock import SYSTEM_CLOCK, Clock
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
from kindly.read.stores.duckdb import rows as sql
from kindly.read.stores.duckdb.file import WAIT_S, DuckLibrary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Value = TypeVar("Value")


class DuckStore:
    """A `Store` in one file."""

    def __init__(
        self,
        path: Path,
        *,
        migrations: Sequence[str] = sql.MIGRATIONS,
        clock: Clock = SYSTEM_CLOCK,
        timeout_s: float = WAIT_S,
    ) -> None:
        self._file = DuckLibrary(path, migrations, clock, timeout_s)
        self._locks = KeyLocks()
        self.crawls: Crawls = SqlCrawls(sql.CRAWLS, self._run_crawls, self._run_crawls)

    async def _run_crawls(self, work: Callable[[Execute], Value]) -> Value:
        return await self._file.run(lambda database: work(sql.executor(database)))

    async def model(self) -> EmbeddingModel | None:
        return await self._file.run(sql.model_of)

    async def page(self, url: str) -> StoredPage | None:
        return await self._file.run(partial(sql.page_of, url))

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
        await self._file.run(partial(sql.put, page))

    async def put_all(self, pages: Sequence[PreparedPage]) -> None:
        await self._file.run(partial(sql.put_all, pages))

    async def versions(self, urls: Sequence[str]) -> dict[str, PageVersion]:
        return await self._file.run(partial(sql.versions, urls))

    async def touch(self, url: str, crawled_at: datetime) -> None:
        await self._file.run(partial(sql.touch, url, crawled_at))

    async def candidates(
        self,
        terms: Sequence[str],
        vector: "Vectors | None",
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> list[Candidate]:
        return await self._file.run(partial(sql.candidates, terms, vector, limit, scope))

    async def entries(
        self, *, limit: int = 100, offset: int = 0, collection: str = ""
    ) -> list[StoredPageInfo]:
        return await self._file.run(partial(sql.entries, limit, offset, collection))

    async def pages(self) -> AsyncIterator[StoredPage]:
        url = ""
        while (stored := await self._file.run(partial(sql.next_page, url))) is not None:
            url = stored.entry.key
            yield stored

    async def forget(self, url: str | None = None) -> int:
        return await self._file.run(partial(sql.forget, None if url is None else [url]))

    async def forget_collection(self, collection: str) -> int:
        return await self._file.run(partial(sql.forget_collection, collection))

    async def former(self, url: str) -> list[FormerVersion]:
        return await self._file.run(partial(sql.former_versions, url))

    async def drop_vectors(self) -> None:
        await self._file.run(sql.drop_vectors)

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        return await self._file.run(partial(sql.evict, max_bytes, before))

    async def stats(self) -> StoreStats:
        return await self._file.run(partial(sql.stats, self._file.path))

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """A lock within this process; another process may read the same page twice."""
        return self._locks(url)

    async def aclose(self) -> None:
        await self._file.aclose()
