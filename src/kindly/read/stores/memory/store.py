"""A library in memory, for servers that store nothing on disk, and for tests."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from kindly.concurrency.key_locks import KeyLocks
from kindly.frozen import frozen
from kindly.models import Chunk, RecallScope, StoredPageInfo
from kindly.read import row_format
from kindly.read.crawls.collection import Crawls
from kindly.read.evidence.page_versions import MAX_VERSIONS, FormerVersion
from kindly.read.pages.page_outline import NAMED, PageIndexing, page_indexing
from kindly.read.store import (
    NAMED_SHARE,
    Candidate,
    EmbeddingModel,
    PageVersion,
    PreparedPage,
    StoredPage,
    StoreStats,
)
from kindly.read.stores.memory.crawls import MemoryCrawls

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


@frozen
class _MemoryPage:
    """A page with the term counts of its chunks."""

    entry: StoredPageInfo
    chunks: tuple[Chunk, ...]
    vectors: "Mapping[str, Vectors]"
    terms: Mapping[str, Counter[str]]
    indexing: PageIndexing

    @property
    def is_complete(self) -> bool:
        """Whether every chunk has a vector."""
        return bool(self.chunks) and len(self.vectors) == len(self.chunks)

    @property
    def size(self) -> int:
        width = len(next(iter(self.vectors.values()), ()))
        return row_format.estimated_bytes(self.chunks, width)


class MemoryStore:
    """A `Store` in memory."""

    def __init__(self) -> None:
        self._pages: dict[str, _MemoryPage] = {}
        self._former: dict[str, list[FormerVersion]] = {}
        self._model: EmbeddingModel | None = None
        self._locks = KeyLocks()
        self.crawls: Crawls = MemoryCrawls(self._sizes)

    def _sizes(self, collection: str) -> tuple[int, int]:
        """The pages of a collection and their size."""
        held = [one for one in self._pages.values() if one.entry.collection == collection]
        return len(held), sum(one.size for one in held)

    async def model(self) -> EmbeddingModel | None:
        return self._model

    async def page(self, url: str) -> StoredPage | None:
        return self._stored(url)

    def _stored(self, url: str) -> StoredPage | None:
        held = self._pages.get(url)
        return None if held is None else _to_page(held)

    async def put(
        self,
        entry: StoredPageInfo,
        chunks: Sequence[Chunk],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
    ) -> None:
        self._put(entry, row_format.storable_chunks(chunks), vectors, model, {})

    async def put_all(self, pages: Sequence[PreparedPage]) -> None:
        for page in pages:
            terms = {id_: Counter(words.split()) for id_, words in page.terms.items()}
            chunks = row_format.storable_chunks(page.chunks)
            self._put(page.entry, chunks, row_format.to_vectors(page.halves), page.model, terms)

    async def versions(self, urls: Sequence[str]) -> dict[str, PageVersion]:
        held = {url: self._pages[url] for url in urls if url in self._pages}
        return {
            url: PageVersion(page.entry.content_hash, page.entry.crawled_at, page.is_complete)
            for url, page in held.items()
        }

    def _put(
        self,
        entry: StoredPageInfo,
        kept: tuple[Chunk, ...],
        vectors: "Mapping[str, Vectors]",
        model: EmbeddingModel | None,
        counted: Mapping[str, Counter[str]],
    ) -> None:
        self._model = row_format.model_to_keep(self._model, model, vectors) or self._model
        before = self._pages.get(entry.key)
        known_hash = None if before is None else before.entry.content_hash
        load = partial(self._stored, entry.key)
        if version := row_format.replaced_version(entry, known_hash, load):
            versions = [version, *self._former.get(entry.key, [])]
            self._former[entry.key] = versions[:MAX_VERSIONS]
        known = {**vectors, **({} if before is None else before.vectors)}
        terms = {**counted, **({} if before is None else before.terms)}
        stored = row_format.storable_entry(entry)
        self._pages[entry.key] = _MemoryPage(
            stored,
            kept,
            {one.id: known[one.id] for one in kept if one.id in known},
            {one.id: terms.get(one.id) or Counter(row_format.indexed_terms(one)) for one in kept},
            page_indexing(stored, kept),
        )

    async def touch(self, url: str, crawled_at: datetime) -> None:
        if url in self._pages:
            held = self._pages[url]
            self._pages[url] = replace(held, entry=replace(held.entry, crawled_at=crawled_at))

    async def candidates(
        self,
        terms: Sequence[str],
        vector: "Vectors | None",
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> list[Candidate]:
        pages = [one for one in self._pages.values() if row_format.in_scope(one.entry, scope)]
        held = [(page, chunk) for page in pages for chunk in page.chunks]
        words = _by_words([page.terms[chunk.id] for page, chunk in held], set(terms))
        near: list[tuple[float, int]] = []
        if vector is not None:
            near = [
                (float(known @ vector), place)
                for place, (page, chunk) in enumerate(held)
                if (known := page.vectors.get(chunk.id)) is not None and known.shape == vector.shape
            ]
        best = sorted(words, reverse=True)[:limit] + sorted(near, reverse=True)[:limit]
        chosen = [held[place] for _, place in best]
        chosen += self._by_names(terms, limit // NAMED_SHARE, scope)
        once = {chunk.id: (page, chunk) for page, chunk in chosen}
        return [
            Candidate(page.entry, chunk, page.vectors.get(chunk.id), page.indexing.outline)
            for page, chunk in once.values()
        ]

    def _by_names(
        self, terms: Sequence[str], limit: int, scope: RecallScope
    ) -> list[tuple[_MemoryPage, Chunk]]:
        """The first chunks of the pages that have these words in their title or address."""
        held = (page for page in self._pages.values() if page.chunks)
        pages = [page for page in held if row_format.in_scope(page.entry, scope)]
        names = [Counter(page.indexing.named.split()) for page in pages]
        found = sorted(_by_words(names, {NAMED + term for term in terms}), reverse=True)[:limit]
        return [(pages[place], pages[place].chunks[0]) for _, place in found]

    async def entries(
        self, *, limit: int = 100, offset: int = 0, collection: str = ""
    ) -> list[StoredPageInfo]:
        held = (one.entry for one in self._pages.values())
        found = [one for one in held if collection in {"", one.collection}]
        found.sort(key=lambda one: one.key)
        found.sort(key=lambda one: one.crawled_at, reverse=True)
        return found[offset : offset + limit]

    async def pages(self) -> AsyncIterator[StoredPage]:
        for held in list(self._pages.values()):
            yield _to_page(held)

    async def forget(self, url: str | None = None) -> int:
        if url is not None:
            self._former.pop(url, None)
            return int(self._pages.pop(url, None) is not None)
        count = len(self._pages)
        self._former.clear()
        self._pages.clear()
        return count

    async def forget_collection(self, collection: str) -> int:
        keys = [key for key, one in self._pages.items() if one.entry.collection == collection]
        return sum([await self.forget(key) for key in keys])

    async def former(self, url: str) -> list[FormerVersion]:
        return list(self._former.get(url, []))

    async def drop_vectors(self) -> None:
        self._model = None
        self._pages = {url: replace(held, vectors={}) for url, held in self._pages.items()}

    async def evict(self, *, max_bytes: int, before: datetime) -> int:
        pages = [
            row_format.EvictionCandidate(url, held.entry.crawled_at, held.size)
            for url, held in self._pages.items()
            if not held.entry.collection
        ]
        gone = row_format.outdated(pages, max_bytes, before)
        for url in gone:
            await self.forget(str(url))
        return len(gone)

    async def stats(self) -> StoreStats:
        crawled = [held.entry.crawled_at for held in self._pages.values()]
        return StoreStats(
            kind="memory",
            place="memory",
            pages=len(self._pages),
            chunks=sum(len(held.chunks) for held in self._pages.values()),
            size_bytes=sum(held.size for held in self._pages.values()),
            model=self._model,
            oldest=min(crawled, default=None),
            newest=max(crawled, default=None),
        )

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """A lock within this process."""
        return self._locks(url)

    async def aclose(self) -> None:
        self._pages.clear()


def _to_page(held: _MemoryPage) -> StoredPage:
    import numpy as np

    whole = held.is_complete
    vectors = np.stack([held.vectors[one.id] for one in held.chunks]) if whole else None
    return StoredPage(held.entry, held.chunks, vectors)


def _by_words(counts: Sequence[Counter[str]], terms: set[str]) -> list[tuple[float, int]]:
    """(score, position) of each chunk that has any of the terms: TF-IDF with saturation."""
    found = [
        (place, term, count[term])
        for place, count in enumerate(counts)
        for term in terms & count.keys()
    ]
    places = Counter(term for _, term, _ in found)
    total = dict[int, float]()
    for place, term, uses in found:
        rarity = math.log1p(len(counts) / places[term])
        total[place] = total.get(place, 0.0) + rarity * uses / (uses + 1)
    return [(score, place) for place, score in total.items()]
