"""SQLite: one file that all servers of a machine share. Words by FTS5; vectors by a sign-bit index, then exactly."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.concurrency.key_locks import KeyLocks
from kindly.models import Chunk, RecallScope, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.collection import Crawls
from kindly.read.crawls.crawl_sql import Execute, SqlCrawls
from kindly.read.crawls.micros import to_micros
from kindly.read.evidence.page_versions import FormerVersion
from kindly.read.pages.page_outline import NAMED
from kindly.read.store import (
    NAMED_SHARE,
    Candidate,
    EmbeddingModel,
    PageVersion,
    PreparedPage,
    StoredPage,
    StoreStats,
)
from kindly.read.stores.sqlite import rows as sql
from kindly.read.stores.sqlite import search as search
from kindly.read.stores.sqlite.file import BUSY_S, SqliteLibrary

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Value = TypeVar("Value")

EVICTION_BATCH = 50


class SqliteStore:
    """A `Store` in one file."""

    def __init__(
        self,
        path: Path,
        *,
        migrations: Sequence[str] = sql.MIGRATIONS,
        clock: Clock = SYSTEM_CLOCK,
        timeout_s: float = BUSY_S,
    ) -> None:
        self._file = SqliteLibrary(path, migrations, clock, timeout_s)
        self._sign_index = search.SharedSignIndex()
        self._locks = KeyLocks()
        self.crawls: Crawls = SqlCrawls(sql.CRAWLS, self._read_crawls, self._write_crawls)

    async def _read_crawls(self, work: Callable[[Execute], Value]) -> Value:
        return await self._file.read(lambda database: work(sql.executor(database)))

    async def _write_crawls(self, work: Callable[[Execute], Value]) -> Value:
        return await self._file.write(lambda database: work(sql.executor(database)))

    async def model(self) -> EmbeddingModel | None:
        return await self._file.read(sql.model_of)

    async def page(self, url: str) -> StoredPage | None:
        return await self._file.read(partial(sql.page_of, url))

    async def put(
        self,
        entry: StoredPageInfo,
        chunks: Sequence[Chunk],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
    ) -> None:
        kept = row_format.storable_chunks(chunks)
        page = sql.SqliteNewPage(row_format.storable_entry(entry), kept, vectors, model)
        await self._file.write_soon(partial(sql.prepared, page))

    async def put_all(self, pages: Sequence[PreparedPage]) -> None:
        await self._file.write(partial(sql.put_all, pages))

    async def versions(self, urls: Sequence[str]) -> dict[str, PageVersion]:
        return await self._file.read(partial(sql.versions, urls))

    async def touch(self, url: str, crawled_at: datetime) -> None:
        values = (to_micros(crawled_at), url)
        await self._file.write(
            lambda db: db.execute("UPDATE documents SET last_crawled = ? WHERE url = ?", values)
        )

    async def candidates(
        self,
        terms: Sequence[str],
        vector: "Vectors | None",
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> list[Candidate]:

        def found(database: "sqlite3.Connection") -> list[Candidate]:
            numbers = dict.fromkeys(search.by_words(database, terms, limit, scope))
            named = [NAMED + term for term in terms]
            numbers |= dict.fromkeys(search.by_words(database, named, limit // NAMED_SHARE, scope))
            model = sql.model_of(database)
            if vector is not None and model and vector.shape == (model.dimension,):
                allowed = search.numbers_in(database, scope) if scope else None
                near = self._sign_index.nearest(database, vector, limit, allowed)
                numbers |= dict.fromkeys(search.by_vector(database, near, vector, limit))
            found = search.fetched(database, numbers)
            return [one for one in found if row_format.in_scope(one.entry, scope)]

        return await self._file.read(found)

    async def entries(
        self, *, limit: int = 100, offset: int = 0, collection: str = ""
    ) -> list[StoredPageInfo]:
        return await self._file.read(partial(sql.entries, limit, offset, collection))

    async def pages(self) -> AsyncIterator[StoredPage]:
        number = 0
        while (found := await self._file.read(partial(sql.next_page, number))) is not None:
            number, stored = found
            yield stored

    async def forget(self, url: str | None = None) -> int:
        if url is None:
            count = await self._file.write(sql.forget_all)
        else:
            count = await self._file.write(partial(sql.forget, [url]))
        await self._file.tidy()
        return count

    async def forget_collection(self, collection: str) -> int:
        urls = await self._file.read(partial(sql.urls_of, collection))
        return await self._forget_some(urls)

    async def former(self, url: str) -> list[FormerVersion]:
        return await self._file.read(partial(sql.former_versions, url))

    async def drop_vectors(self) -> None:
        await self._file.write(sql.drop_vectors)

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        """Drop a few pages per transaction, so that other writers need not wait long."""
        pages = await self._file.read(sql.eviction_candidates)
        return await self._forget_some(
            [str(key) for key in row_format.outdated(pages, max_bytes, before)]
        )

    async def _forget_some(self, urls: Sequence[str]) -> int:
        count = 0
        for first in range(0, len(urls), EVICTION_BATCH):
            some = urls[first : first + EVICTION_BATCH]
            count += await self._file.write(partial(sql.forget, some))
            await self._file.tidy()
        return count

    async def stats(self) -> StoreStats:
        return await self._file.read(partial(sql.stats, self._file.path))

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """A lock within this process; another process may read the same page twice."""
        return self._locks(url)

    async def aclose(self) -> None:
        await self._file.aclose()
