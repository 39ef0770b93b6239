"""The library of pages read: cut into chunks, embedded and stored once, and again only where a page changed.

Nothing here downloads. If the store fails, the page is answered but not stored, and a note says so. With a queue, a
page is stored after its answer (`keep_later`); what asks for stored pages stores the queued ones first.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.errors import InputError, ModelMismatch, StoreUnavailable
from kindly.frozen import frozen
from kindly.models import (
    Chunk,
    Document,
    Finding,
    Page,
    Passage,
    RecallScope,
    StoredPageInfo,
)
from kindly.read.answering import Answering, stacked
from kindly.read.embedder import Embedder, embed_or_note
from kindly.read.indexing.index_protocol import QueuedPage
from kindly.read.indexing.index_queue import (
    IndexQueue,
    IsBusy,
    QueueLimits,
    never_busy,
    nothing_to_free,
)
from kindly.read.indexing.page_indexer import IndexingFailed, PageIndexer
from kindly.read.model_check import ensure_same_model
from kindly.read.similarity import SimilaritySearch
from kindly.read.store import EmbeddingModel, PageVersion, PreparedPage, Store, StoredPage
from kindly.read.store_breaker import StoreBreaker
from kindly.storage.journal import Journal
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

logger = logging.getLogger(__name__)

SPLIT_INLINE_CHARACTERS = 20_000
"""Texts up to this length are split in under a millisecond, without a thread."""
EVICT_EVERY = 200
"""Writes between two evictions."""
CLOCK_SKEW = timedelta(minutes=5)
"""How far a page's time may be ahead of this machine's clock."""
CLOSE_S = 5.0
"""How long closing may take to store what is queued."""
PASSAGES_PER_PAGE = 4
"""Passages that are asked for, so that they are of enough pages."""
NOT_KEPT = "The page was read, but could not be kept in the library."


@frozen
class LibraryPolicy:
    """The size of chunks, what counts as an answer, and how long pages stay."""

    chunk_tokens: int = 512
    threshold: float = 0.72
    """The score from which a passage answers."""
    cosine_threshold: float = 0.72
    """The cosine from which a chunk matches in a similarity search."""
    fresh_for: timedelta = timedelta(hours=24)
    max_bytes: int = 1_000_000_000
    max_age: timedelta = timedelta(days=365)


class Library:
    """Stores pages and answers questions from them."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        policy: LibraryPolicy = LibraryPolicy(),  # noqa: B008 - frozen
        clock: Clock = SYSTEM_CLOCK,
        warnings: WarnOnce | None = None,
    ) -> None:
        self.store = store
        self._embedder = embedder
        self._policy = policy
        self._clock = clock
        self._answering = Answering(store, embedder, policy.threshold)
        self._similarity = SimilaritySearch(embedder, policy.cosine_threshold)
        self._breaker = StoreBreaker(store, warnings or WarnOnce(), clock.monotonic)
        self._puts = 0
        self._model_is_checked = False
        self._queue: IndexQueue | None = None
        self._indexer: PageIndexer | None = None

    async def open_queue(
        self,
        journal: Journal | None,
        indexer: PageIndexer | None,
        limits: QueueLimits = QueueLimits(),  # noqa: B008 - frozen
        is_busy: IsBusy = never_busy,
    ) -> IndexQueue:
        """Store pages after their answer from now on, beginning with those that other processes left.

        The `indexer` splits and embeds them; without one, this process does. While calls run (`is_busy`), they wait.
        """
        self._indexer = indexer
        rest = nothing_to_free if indexer is None else indexer.rest
        queue = self._queue = IndexQueue(self._index, journal, limits, rest, is_busy)
        await queue.take_over()
        return queue

    async def aclose(self) -> None:
        """Store what is queued, as far as there is time, and close the store."""
        if self._queue is not None:
            await self._queue.aclose(CLOSE_S)
        await self.store.aclose()

    async def settle(self, url: str | None = None) -> None:
        """Store the queued pages, if this page is among them, or any."""
        queue = self._queue
        if queue is not None and (len(queue) if url is None else url in queue):
            await queue.flush(url)

    async def fresh(self, url: str) -> StoredPage | None:
        """The stored page, if it was fetched recently and every chunk has a vector.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        await self._check_model()
        await self.settle(url)
        stored = await self._breaker.attempt(partial(self.store.page, url))
        if stored is None or stored.vectors is None:
            return None
        age = self._clock.now() - stored.entry.crawled_at
        return stored if -CLOCK_SKEW <= age < self._policy.fresh_for else None

    def lock(self, url: str) -> AbstractAsyncContextManager[None]:
        """An exclusive lock on a page, so that it is downloaded and embedded once."""
        return self._breaker.lock(url)

    async def keep(
        self, url: str, document: Document, page: Page | None = None
    ) -> tuple[StoredPage, str]:
        """Split, embed and store a document under the requested address; return it with a note of what failed.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        await self._check_model()
        await self.settle(url)
        return await self._keep(
            QueuedPage(_entry(url, document, page), document.text), may_store=_may_store(page)
        )

    async def hold(self, url: str, document: Document, page: Page) -> tuple[StoredPage, str]:
        """Split and embed a document without storing it; return it with a note of what failed.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        await self._check_model()
        return await self._keep(
            QueuedPage(_entry(url, document, page), document.text), may_store=False
        )

    def may_keep(self, page: Page) -> bool:
        """Whether the site allows to store a page; one that needed a login is not stored."""
        return page.may_be_stored

    async def keep_later(self, url: str, document: Document, page: Page | None = None) -> str:
        """Store a document after the answer; before it, only write it to the journal. Return a note of what failed.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        if not _may_store(page):
            return ""
        return await self._later(QueuedPage(_entry(url, document, page), document.text))

    async def _later(self, queued: QueuedPage) -> str:
        await self._check_model()
        if self._queue is not None:
            try:
                return "" if await self._queue.add(queued) else NOT_KEPT
            except OSError as error:
                logger.debug("the journal cannot be written", extra={"reason": error.strerror})
        _, note = await self._keep(queued)
        return note

    async def rank_and_keep(
        self, url: str, document: Document, page: Page, question: str, limit: int
    ) -> tuple[Passage, ...]:
        """The best passages of a document, whether they answer the question or not; it is stored after the answer.

        Raises:
            ModelMismatch: the library's vectors are another model's.
        """
        if self._queue is not None and self._indexer is not None:
            queued = QueuedPage(_entry(url, document, page), document.text)
            if _may_store(page):
                await self._later(queued)
            with suppress(IndexingFailed):
                return await self._indexer.rank(queued, question, limit)
        stored, _ = await self.keep(url, document, page)
        return await self.ranked(stored, question, limit)

    async def warm(self) -> None:
        """Have ready what ranking and storing the first page would wait for."""
        if self._indexer is not None:
            await self._indexer.warm()

    async def _keep(self, page: QueuedPage, *, may_store: bool = True) -> tuple[StoredPage, str]:
        """Split, embed and store a page now; chunks that are stored already are not embedded again."""
        entry = page.entry
        before = await self._breaker.attempt(partial(self.store.page, entry.key))
        known: dict[str, Vectors] = {}
        if before is not None and before.vectors is not None:
            if before.entry.content_hash == entry.content_hash:
                await self._breaker.attempt(partial(self.store.touch, entry.key, entry.crawled_at))
                return StoredPage(entry, before.chunks, before.vectors), ""
            known = _by_id(before.chunks, before.vectors)
        chunks = await _split(page.text, entry.key, self._policy.chunk_tokens)
        chunks = await _with_prepared(chunks, before)
        unknown = [chunk for chunk in chunks if chunk.id not in known]
        rows, note = await embed_or_note(self._embedder, [chunk.text for chunk in unknown])
        fresh = {} if rows is None else _by_id(unknown, rows)
        if (model := self._model(fresh)) is not None:
            ensure_same_model(self._model(known), model)
        if may_store:
            kept = await self._put(
                partial(self.store.put, entry, chunks, fresh, self._model(fresh))
            )
            note = " ".join(filter(None, (note, "" if kept else NOT_KEPT)))
        return StoredPage(entry, chunks, stacked(chunks, known | fresh)), note

    async def _index(self, pages: Sequence[QueuedPage]) -> bool:
        """Store queued pages; False if the store cannot be used now."""
        return await self._store_changed(pages) is not None

    async def _store_changed(self, pages: Sequence[QueuedPage]) -> frozenset[str] | None:
        """Store what changed; the keys of pages that cannot be prepared, or None if the store cannot be used."""
        by_age = sorted(pages, key=lambda page: page.entry.crawled_at)
        latest = {page.entry.key: page for page in by_age}
        known = await self._breaker.attempt(partial(self.store.versions, list(latest)))
        if known is None:
            return None
        changed = []
        for url, page in latest.items():
            version = known.get(url)
            if version is None or _is_other(page.entry, version):
                changed.append(page)
            elif version.crawled_at < page.entry.crawled_at and not page.entry.collection:
                await self._breaker.attempt(partial(self.store.touch, url, page.entry.crawled_at))
        if self._indexer is None:
            kept = [NOT_KEPT not in (await self._keep(page))[1] for page in changed]
            return frozenset() if all(kept) else None
        prepared = await self._prepared(changed, self._indexer)
        put = partial(self.store.put_all, prepared)
        if prepared and not await self._put(put, len(prepared)):
            return None
        return frozenset(page.entry.key for page in changed) - {one.entry.key for one in prepared}

    async def _prepared(
        self, pages: Sequence[QueuedPage], indexer: PageIndexer
    ) -> list[PreparedPage]:
        """The pages as they are stored. One that cannot be prepared is left out."""
        if not pages:
            return []
        try:
            return await indexer.prepare(pages)
        except IndexingFailed:
            if len(pages) == 1:
                logger.warning("A page could not be indexed; it is not kept in the library.")
                return []
        return [one for page in pages for one in await self._prepared([page], indexer)]

    async def store_now(self, pages: Sequence[QueuedPage]) -> frozenset[str]:
        """Split, embed and store pages; they are durable on return. Returns the keys of those that cannot be indexed.

        Raises:
            StoreUnavailable: the store cannot be used now.
            ModelMismatch: the library's vectors are another model's.
        """
        await self._check_model()
        left_out = await self._store_changed(pages)
        if left_out is None:
            raise StoreUnavailable("The library cannot be used now.")
        return left_out

    async def embed_again(self, url: str) -> bool:
        """Embed a stored page with the configured model; False if there is no such page.

        Raises:
            EmbeddingsDown: no vectors are available.
            StoreUnavailable: the store fails.
        """
        stored = await self.store.page(url)
        if stored is None:
            return False
        rows = await self._embedder.embed([chunk.text for chunk in stored.chunks])
        vectors = _by_id(stored.chunks, list(rows))
        await self.store.put(stored.entry, stored.chunks, vectors, self._model(vectors))
        return True

    async def ask(
        self, stored: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        """The answers of one page to each question, or what comes closest."""
        return await self._answering.ask(stored, questions, limit)

    async def similar(
        self, stored: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        """The whole chunks of one page that are similar to each question, with the cosine as score."""
        return await self._similarity.search(stored, questions, limit)

    async def recall(
        self,
        questions: Sequence[str],
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> tuple[Finding, ...]:
        """The answers of all stored pages in a scope to each question.

        Raises:
            InputError: there is no such collection.
            StoreUnavailable: the store fails.
            ModelMismatch: its vectors are another model's.
        """
        await self.settle()
        if not self._model_is_checked:
            self._compare(await self.store.model())
        if scope.collection:
            await self._check_collection(scope.collection)
        return await self._answering.recall(questions, limit, scope)

    async def pages_about(
        self, question: str, site: str, limit: int
    ) -> tuple[tuple[StoredPage, tuple[Passage, ...]], ...]:
        """The pages of collections of a site that answer a question best, with their passages.

        Raises:
            StoreUnavailable: the store fails.
            ModelMismatch: its vectors are another model's.
        """
        (finding,) = await self.recall(
            [question], PASSAGES_PER_PAGE * limit, RecallScope(site=site)
        )
        passages: dict[str, list[Passage]] = {}
        for cited in finding.citations:
            if cited.page.collection:
                passages.setdefault(cited.page.key, []).append(cited.passage)
        found = []
        for key, some in list(passages.items())[:limit]:
            stored = await self.store.page(key)
            if stored is not None:
                found.append((stored, tuple(some)))
        return tuple(found)

    async def _check_collection(self, name: str) -> None:
        known = [one.collection for one in await self.store.crawls.collections()]
        if not any(name in {one.id, one.name} for one in known):
            listed = ", ".join(one.id for one in known) or "none"
            raise InputError(
                f"There is no collection {name}. Collections: {listed}.", field="collection"
            )

    async def ranked(self, stored: StoredPage, question: str, limit: int) -> tuple[Passage, ...]:
        """The best passages of a page, whether they answer the question or not."""
        return await self._answering.ranked(stored, question, limit)

    async def _put(self, write: Callable[[], Awaitable[None]], pages: int = 1) -> bool:
        """Write pages, and evict old ones now and then; False if the store cannot be used."""

        async def put() -> bool:
            await write()
            self._breaker.was_written()
            before_these, self._puts = self._puts, self._puts + pages
            if self._puts // EVICT_EVERY > before_these // EVICT_EVERY:
                before = self._clock.now() - self._policy.max_age
                await self.store.evict(max_bytes=self._policy.max_bytes, before=before)
            return True

        return await self._breaker.attempt(put) is True

    def _model(self, vectors: "Mapping[str, Vectors]") -> EmbeddingModel | None:
        first = next(iter(vectors.values()), None)
        return None if first is None else EmbeddingModel(self._embedder.name, len(first))

    async def _check_model(self) -> None:
        """Refuse to mix models; asks the store until it has one."""
        if not self._model_is_checked:
            self._compare(await self._breaker.attempt(self.store.model))

    def _compare(self, stored: EmbeddingModel | None) -> None:
        if stored is None:
            return
        if stored.name != self._embedder.name:
            raise ModelMismatch(
                f"The library was embedded with {stored.name!r}, but {self._embedder.name!r} is configured: "
                "run `kindly library rebuild`, or configure the former model again."
            )
        self._model_is_checked = True


async def _split(text: str, url: str, size: int) -> tuple[Chunk, ...]:
    from kindly.read.chunk import split

    if len(text) <= SPLIT_INLINE_CHARACTERS:
        return split(text, url, size=size)
    return await anyio.to_thread.run_sync(partial(split, text, url, size=size))


async def _with_prepared(chunks: Sequence[Chunk], before: StoredPage | None) -> tuple[Chunk, ...]:
    """The chunks, with what ranking needs of them; of those stored already, it is known."""
    from kindly.read.ranking.prepared import with_prepared
    from kindly.read.ranking.rank import local_model

    known = {} if before is None else {one.id: one.prepared for one in before.chunks}
    chunks = tuple(replace(one, prepared=known.get(one.id)) for one in chunks)
    return await anyio.to_thread.run_sync(lambda: with_prepared(chunks, local_model()))


def page_of_collection(
    url: str, document: Document, page: Page | None, collection: str
) -> QueuedPage | None:
    """A document as a page of a collection; None if the site does not allow to store it."""
    if not _may_store(page):
        return None
    entry = replace(_entry(url, document, page), collection=collection)
    return QueuedPage(entry, document.text)


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
        cut=document.partial and not document.protected,
    )


def _may_store(page: Page | None) -> bool:
    return page is None or page.may_be_stored


def _is_other(entry: StoredPageInfo, stored: PageVersion) -> bool:
    """Whether a page is to be stored: it is not older than the stored version, which differs or has no vectors."""
    if stored.crawled_at > entry.crawled_at:
        return False
    return not stored.complete or stored.content_hash != entry.content_hash


def _by_id(chunks: Sequence[Chunk], rows: "Sequence[Vectors] | Vectors") -> "dict[str, Vectors]":
    return {chunk.id: row for chunk, row in zip(chunks, rows, strict=True)}
