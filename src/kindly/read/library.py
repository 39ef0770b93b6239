"""A document → kept in the library; a question → the passages that answer it, from one page or from all of them.

Every page is cut and embedded once, and again only where it changed. Nothing here downloads. A store that fails costs
the memory of a page, not the answer; without vectors words alone decide; either is told in a note.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from kindly.concurrency.cooldown import Cooldown
from kindly.errors import EmbeddingsDown, ModelMismatch, StoreUnavailable
from kindly.models import Chunk, Citation, Document, Finding, Page, Passage, StoredPageInfo
from kindly.read.embedder import Embedder
from kindly.read.store import Candidate, EmbeddingModel, Store, StoredPage
from kindly.storage.lru import LruCache
from kindly.storage.sqlite import BUSY, reason_of
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kindly.read.ranking.rank import Index

    Vectors = NDArray[np.float32]

Value = TypeVar("Value")

KEPT_CHUNKS = 1_000
"""Chunks whose index stays in memory."""
SHORT = 20_000
"""Characters that are cut in less than a millisecond, for which no thread is woken."""
CANDIDATES = 48
"""How many chunks the whole library offers by words, and as many by meaning."""
EVICT_EVERY = 200
PATIENCE_S = 15.0
"""How long an answer waits for the store."""
TRIAL_S = 1.0
"""How long it waits for one that could not be written the last time."""
REST_S = 15.0
"""How long a store that failed is left alone."""
SKEW = timedelta(minutes=5)
"""How far ahead of our clock a page may have been crawled."""
NO_VECTORS = "Ranked by words alone, as there are no embeddings now: {why}"
LONGEST = "The longest parts of the page stand here, as neither words nor embeddings told more."
NOT_KEPT = "The page was read, but could not be kept in the library."


@dataclass(frozen=True, slots=True)
class LibraryPolicy:
    """How pages are cut, what counts as an answer, and how long pages are kept."""

    chunk_tokens: int = 512
    threshold: float = 0.72
    fresh_for: timedelta = timedelta(hours=24)
    max_bytes: int = 1_000_000_000
    max_age: timedelta = timedelta(days=365)


class _Indexes:
    """An LRU cache of indexes."""

    def __init__(self) -> None:
        self._cached: LruCache[tuple[str, str, bool], Index] = LruCache(KEPT_CHUNKS, _chunk_count)

    async def of(self, shelf: StoredPage) -> "Index":
        key = (shelf.entry.url, shelf.entry.content_hash, shelf.vectors is not None)
        if (index := self._cached.get(key)) is None:
            index = await anyio.to_thread.run_sync(_build, shelf.chunks, shelf.vectors)
            self._cached.put(key, index)
        return index


def _chunk_count(index: "Index") -> int:
    return len(index.chunks)


def _build(chunks: Sequence[Chunk], vectors: "Vectors | None") -> "Index":
    from kindly.read.ranking.rank import Index

    return Index(chunks, vectors)


class Library:
    """The library and the ranking over it."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        rules: LibraryPolicy = LibraryPolicy(),  # noqa: B008 - frozen
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        alarm: WarnOnce | None = None,
    ) -> None:
        self.store = store
        self._embedder = embedder
        self._rules = rules
        self._now = now
        self._indexes = _Indexes()
        self._puts = 0
        self._same_model = False
        self._alarm = alarm or WarnOnce()
        self._cooldown = Cooldown(anyio.current_time)
        self._is_written = True

    async def fresh(self, url: str) -> StoredPage | None:
        """The page as it is kept, if it was crawled lately and all of it has vectors.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        await self._check_model()
        shelf = await self._or_none(partial(self.store.shelf, url))
        if shelf is None or shelf.vectors is None:
            return None
        age = self._now() - shelf.entry.crawled_at
        return shelf if -SKEW <= age < self._rules.fresh_for else None

    @asynccontextmanager
    async def alone(self, url: str) -> AsyncIterator[None]:
        """Hold off others who share the library from this page; a library that fails holds nobody off."""
        holding = self.store.alone(url)
        try:
            await holding.__aenter__()
        except StoreUnavailable as error:
            self._warn(error)
            yield
            return
        try:
            yield
        finally:
            await holding.__aexit__(None, None, None)

    async def keep(
        self, url: str, document: Document, page: Page | None = None
    ) -> tuple[StoredPage, str]:
        """Cut, embed and keep a document under the address that was asked for; the shelf, and what went wrong.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        await self._check_model()
        entry = _entry(url, document, page)
        before = await self._or_none(partial(self.store.shelf, url))
        if before is not None and before.vectors is not None:
            if before.entry.content_hash == entry.content_hash:
                await self._or_none(partial(self.store.touch, url, entry.crawled_at))
                return StoredPage(entry, before.chunks, before.vectors), ""
            known = _by_id(before.chunks, before.vectors)
        else:
            known = {}
        chunks = await _split(document.text, url, self._rules.chunk_tokens)
        fresh, note = await self._embedded([one for one in chunks if one.id not in known])
        if page is None or "no-store" not in page.cache_control:
            kept = await self._put(entry, chunks, fresh)
            note = " ".join(filter(None, (note, "" if kept else NOT_KEPT)))
        return StoredPage(entry, chunks, _rows(chunks, known | fresh)), note

    async def embed_again(self, url: str) -> bool:
        """Give a kept page's chunks the configured model's vectors; whether there was such a page.

        Raises:
            EmbeddingsDown: there are no vectors to be had.
            StoreUnavailable: the library cannot be reached.
        """
        shelf = await self.store.shelf(url)
        if shelf is None:
            return False
        rows = await self._embedder.embed([embedded_text(chunk) for chunk in shelf.chunks])
        vectors = _by_id(shelf.chunks, rows)
        await self.store.put(shelf.entry, shelf.chunks, vectors, self._model(vectors))
        return True

    async def ask(
        self, shelf: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        """What a page says to each question."""
        index = await self._indexes.of(shelf)
        vectors, note = await self._question_vectors(questions, wanted=shelf.vectors is not None)
        return tuple(
            [
                await anyio.to_thread.run_sync(
                    partial(self._page_finding, shelf, index, question, vector, limit, note)
                )
                for question, vector in zip(questions, vectors, strict=True)
            ]
        )

    async def recall(self, questions: Sequence[str], limit: int) -> tuple[Finding, ...]:
        """What all pages together say to each question.

        Raises:
            StoreUnavailable: the library cannot be reached.
            ModelMismatch: its vectors are another model's.
        """
        await self._check_model(strict=True)
        vectors, note = await self._question_vectors(questions, wanted=True)
        return tuple(
            [
                await self._recalled(question, vector, limit, note)
                for question, vector in zip(questions, vectors, strict=True)
            ]
        )

    async def ranked(self, shelf: StoredPage, question: str, limit: int) -> tuple[Passage, ...]:
        """A page's passages by how much a question needs them, whether they answer it or not."""
        index = await self._indexes.of(shelf)
        vectors, _ = await self._question_vectors([question], wanted=shelf.vectors is not None)
        ranking = await anyio.to_thread.run_sync(
            partial(index.ask, question, vectors[0], limit=limit, threshold=0.0)
        )
        return _whole(ranking.passages, shelf.entry.total)

    def _page_finding(
        self,
        shelf: StoredPage,
        index: "Index",
        question: str,
        vector: "Vectors | None",
        limit: int,
        note: str,
    ) -> Finding:
        ranking = index.ask(question, vector, limit=limit, threshold=self._rules.threshold)
        passages, answered = ranking.passages, ranking.answered
        if not answered and note:
            passages, answered = _longest(shelf.chunks, limit), True
            note = f"{note} {LONGEST}"
        cited = tuple(Citation(shelf.entry, one) for one in _whole(passages, shelf.entry.total))
        return Finding(question, cited if answered else (), answered, note)

    async def _recalled(
        self, question: str, vector: "Vectors | None", limit: int, note: str
    ) -> Finding:
        from kindly.text.terms import terms

        found = await self.store.candidates(terms(question), vector, CANDIDATES)
        return await anyio.to_thread.run_sync(
            partial(self._library_finding, found, question, vector, limit, note)
        )

    def _library_finding(
        self,
        found: Sequence[Candidate],
        question: str,
        vector: "Vectors | None",
        limit: int,
        note: str,
    ) -> Finding:
        chunks = [one.chunk for one in found]
        vectors = _rows(
            chunks, {one.chunk.id: one.vector for one in found if one.vector is not None}
        )
        index = _build(chunks, vectors)
        ranking = index.ask(question, vector, limit=limit, threshold=self._rules.threshold)
        entries = {one.chunk.id: one.entry for one in found}
        cited = tuple(
            Citation(entries[one.id], replace(one, total=entries[one.id].total))
            for one in ranking.passages
        )
        return Finding(question, cited if ranking.answered else (), ranking.answered, note)

    async def _question_vectors(
        self, questions: Sequence[str], *, wanted: bool
    ) -> "tuple[list[Vectors | None], str]":
        """A vector for each question; none, and why, where there are none to be had."""
        nothing: list[Vectors | None] = [None] * len(questions)
        if not wanted:
            return nothing, NO_VECTORS.format(why="the page was kept without.")
        try:
            return list(await self._embedder.embed(questions)), ""
        except EmbeddingsDown as error:
            return nothing, NO_VECTORS.format(why=error.detail)

    async def _embedded(self, chunks: Sequence[Chunk]) -> "tuple[dict[str, Vectors], str]":
        """Vectors by chunk id; none, and why, where there are none to be had."""
        if not chunks:
            return {}, ""
        try:
            rows = await self._embedder.embed([embedded_text(chunk) for chunk in chunks])
        except EmbeddingsDown as error:
            return {}, NO_VECTORS.format(why=error.detail)
        return _by_id(chunks, rows), ""

    async def _put(
        self, entry: StoredPageInfo, chunks: Sequence[Chunk], vectors: "Mapping[str, Vectors]"
    ) -> bool:
        async def put() -> bool:
            await self.store.put(entry, chunks, vectors, self._model(vectors))
            self._is_written = True
            self._puts += 1
            if self._puts % EVICT_EVERY == 0:
                before = self._now() - self._rules.max_age
                await self.store.evict(max_bytes=self._rules.max_bytes, before=before)
            return True

        return await self._or_none(put) is True

    def _model(self, vectors: "Mapping[str, Vectors]") -> EmbeddingModel | None:
        first = next(iter(vectors.values()), None)
        return None if first is None else EmbeddingModel(self._embedder.name, len(first))

    async def _check_model(self, *, strict: bool = False) -> None:
        """Refuse to mix models; looked up until the store has one."""
        if self._same_model:
            return
        held = await (self.store.model() if strict else self._or_none(self.store.model))
        if held is None:
            return
        if held.name != self._embedder.name:
            raise ModelMismatch(
                f"The library was embedded with {held.name!r}, and {self._embedder.name!r} is configured: "
                "run `kindly library rebuild`, or set the former model again."
            )
        self._same_model = True

    async def _or_none(self, work: "Callable[[], Awaitable[Value | None]]") -> "Value | None":
        """What the store gives, or nothing if it fails, or failed a moment ago."""
        if self._cooldown.is_active:
            return None
        try:
            with anyio.fail_after(PATIENCE_S if self._is_written else TRIAL_S):
                return await work()
        except TimeoutError:
            self._warn(StoreUnavailable("The library does not answer.", reason=reason_of(BUSY)))
        except StoreUnavailable as error:
            self._warn(error)
        return None

    def _warn(self, error: StoreUnavailable) -> None:
        """One warning for what several files may meet; then the store is left alone for a while."""
        self._cooldown.start(REST_S)
        self._is_written = False
        self._alarm.warn(
            error.reason, f"The library cannot be used; pages are read without it. {error.detail}"
        )


def embedded_text(chunk: Chunk) -> str:
    """What of a chunk is embedded."""
    return chunk.text


async def _split(text: str, url: str, size: int) -> tuple[Chunk, ...]:
    from kindly.read.chunk import split

    if len(text) <= SHORT:
        return split(text, url, size=size)
    return await anyio.to_thread.run_sync(partial(split, text, url, size=size))


def _entry(url: str, document: Document, page: Page | None) -> StoredPageInfo:
    return StoredPageInfo(
        url=url,
        title=document.metadata.title,
        crawled_at=(page and page.checked_at) or document.fetched_at,
        content_hash=document.content_hash,
        total=len(document.text),
        etag=page.etag if page else None,
        last_modified=page.last_modified if page else None,
        language=document.metadata.language,
        how=document.how,
        partial=document.partial,
    )


def _by_id(chunks: Sequence[Chunk], rows: "Vectors") -> "dict[str, Vectors]":
    return {chunk.id: row for chunk, row in zip(chunks, rows, strict=True)}


def _rows(chunks: Sequence[Chunk], vectors: "Mapping[str, Vectors]") -> "Vectors | None":
    """One row per chunk, or nothing if one is missing."""
    import numpy as np

    if not chunks or any(chunk.id not in vectors for chunk in chunks):
        return None
    return np.stack([vectors[chunk.id] for chunk in chunks])


def _longest(chunks: Sequence[Chunk], limit: int) -> tuple[Passage, ...]:
    longest = sorted(chunks, key=lambda chunk: -len(chunk.text))[:limit]
    return tuple(
        Passage(one.text, one.start, one.end, 0, one.id, one.section, 0.0) for one in longest
    )


def _whole(passages: Sequence[Passage], total: int) -> tuple[Passage, ...]:
    return tuple(replace(passage, total=total) for passage in passages)
