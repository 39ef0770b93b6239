"""SQLite: one file that all servers of a machine share. Words by FTS5; vectors by their signs first, then exactly."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kindly.concurrency.key_locks import KeyLocks
from kindly.models import Chunk, StoredPageInfo
from kindly.read import row_format
from kindly.read.store import (
    Candidate,
    EmbeddingModel,
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

EVICTED_AT_ONCE = 50


class SqliteStore:
    """A library in one file; see `Store`."""

    def __init__(
        self,
        path: Path,
        *,
        migrations: Sequence[str] = sql.MIGRATIONS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience_s: float = BUSY_S,
    ) -> None:
        self._file = SqliteLibrary(path, migrations, now, patience_s)
        self._signs = search.SharedSigns()
        self._turns = KeyLocks()

    async def model(self) -> EmbeddingModel | None:
        """Whose vectors it holds."""
        return await self._file.read(sql.model_of)

    async def page(self, url: str) -> StoredPage | None:
        """All of a page."""
        return await self._file.read(partial(sql.page_of, url))

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
        page = sql.NewPage(row_format.storable_entry(entry), kept, vectors, model)
        await self._file.write_soon(partial(sql.prepared, page))

    async def touch(self, url: str, crawled_at: datetime) -> None:
        """Note that a page was looked at again."""
        values = (row_format.to_micros(crawled_at), url)
        await self._file.write(
            lambda db: db.execute("UPDATE documents SET last_crawled = ? WHERE url = ?", values)
        )

    async def candidates(
        self, terms: Sequence[str], vector: "Vectors | None", limit: int
    ) -> list[Candidate]:
        """Chunks by words and by vector, each once."""

        def found(database: "sqlite3.Connection") -> list[Candidate]:
            numbers = dict.fromkeys(search.by_words(database, terms, limit))
            model = sql.model_of(database)
            if vector is not None and model and vector.shape == (model.dimension,):
                near = self._signs.nearest(database, vector, limit)
                numbers |= dict.fromkeys(search.by_vector(database, near, vector, limit))
            return search.fetched(database, numbers)

        return await self._file.read(found)

    async def entries(self, *, limit: int = 100, offset: int = 0) -> list[StoredPageInfo]:
        """Pages, the latest first."""
        return await self._file.read(partial(sql.entries, limit, offset))

    async def pages(self) -> AsyncIterator[StoredPage]:
        """Every page."""
        number = 0
        while (found := await self._file.read(partial(sql.next_page, number))) is not None:
            number, stored = found
            yield stored

    async def forget(self, url: str | None = None) -> int:
        """Drop a page, or all."""
        if url is None:
            count = await self._file.write(sql.forget_all)
        else:
            count = await self._file.write(partial(sql.forget, [url]))
        await self._file.tidy()
        return count

    async def drop_vectors(self) -> None:
        """Drop all vectors and the model."""
        await self._file.write(sql.drop_vectors)

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        """Drop what is old or too much, a few pages at a time."""
        pages = await self._file.read(sql.aged)
        urls = [str(key) for key in row_format.outdated(pages, max_bytes, before)]
        count = 0
        for first in range(0, len(urls), EVICTED_AT_ONCE):
            some = urls[first : first + EVICTED_AT_ONCE]
            count += await self._file.write(partial(sql.forget, some))
            await self._file.tidy()
        return count

    async def stats(self) -> StoreStats:
        """How much it holds."""
        return await self._file.read(partial(sql.stats, self._file.path))

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """Hold off others of this process; those of another may read the same page twice."""
        return self._turns(url)

    async def aclose(self) -> None:
        """Close the file."""
        await self._file.aclose()
