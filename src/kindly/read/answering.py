"""Questions → findings: the passages of one page, or of all stored pages, that answer them.

Nothing is withheld: if nothing seems to answer, the closest passages are in the finding, which says so; a short page is
given whole. Ranking runs in a thread. Without vectors, words alone decide, and a note says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio.to_thread

from kindly.models import Chunk, Citation, Finding, Passage, RecallScope
from kindly.read.embedder import Embedder, embed_or_note
from kindly.read.model_check import ensure_same_model
from kindly.read.questions import question_vectors, with_note
from kindly.read.store import Candidate, EmbeddingModel, Store, StoredPage
from kindly.read.whole_page import whole_page
from kindly.storage.lru import LruCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kindly.read.pages.page_order import PageOrder
    from kindly.read.ranking.rank import Index

    Vectors = NDArray[np.float32]

INDEXED_BYTES = 20_000_000
"""Of ranking indexes that stay in memory."""
BYTES_PER_CHARACTER = 75
"""What an index takes for each character of its chunks, as measured on articles."""
CANDIDATES = 48
"""Chunks that the store returns for a question by words, and as many by vector."""
LONGEST = "The longest parts of the page follow, because neither words nor embeddings single out a passage."
LONGEST_PARTS = 3
"""Given if a question has no words to compare."""


class Answering:
    """Ranks passages. Indexes of recently used pages stay in an LRU cache."""

    def __init__(self, store: Store, embedder: Embedder, threshold: float) -> None:
        self._store = store
        self._embedder = embedder
        self._threshold = threshold
        self._indexes: LruCache[tuple[str, str, bool], Index] = LruCache(
            INDEXED_BYTES, lambda index: index_bytes(index.chunks)
        )

    async def ask(
        self, stored: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        """The answers of one page, or what comes closest. The note about missing vectors is on the first only."""
        index = await self._index(stored)
        vectors, note = await question_vectors(self._embedder, stored, questions)
        find = partial(self._page_finding, stored, limit, index)
        findings = [
            await anyio.to_thread.run_sync(find, question, vector)
            for question, vector in zip(questions, vectors, strict=True)
        ]
        return with_note(findings, note)

    async def recall(
        self,
        questions: Sequence[str],
        limit: int,
        scope: RecallScope = RecallScope(),  # noqa: B008 - frozen
    ) -> tuple[Finding, ...]:
        """The answers of all stored pages in a scope. The note about missing vectors is on the first finding only.

        Raises:
            StoreUnavailable: the store fails.
            ModelMismatch: its vectors are another model's.
        """
        embedded, note = await embed_or_note(self._embedder, questions)
        if embedded:
            given = EmbeddingModel(self._embedder.name, len(embedded[0]))
            ensure_same_model(await self._store.model(), given)
        vectors: Sequence[Vectors | None] = embedded or [None] * len(questions)
        findings = [
            await self._library_finding(question, vector, limit, scope)
            for question, vector in zip(questions, vectors, strict=True)
        ]
        return with_note(findings, note)

    async def ranked(self, stored: StoredPage, question: str, limit: int) -> tuple[Passage, ...]:
        """The best passages of a page, whether they answer the question or not."""
        index = await self._index(stored)
        vectors, _ = await question_vectors(self._embedder, stored, [question])
        ranking = await anyio.to_thread.run_sync(
            partial(index.ask, question, vectors[0], limit=limit, threshold=0.0)
        )
        return _with_total(ranking.passages, stored.entry.total)

    async def _index(self, stored: StoredPage) -> "Index":
        key = (stored.entry.key, stored.entry.content_hash, stored.vectors is not None)
        index = self._indexes.get(key)
        if index is None:
            index = await anyio.to_thread.run_sync(_build, stored.chunks, stored.vectors)
            self._indexes.put(key, index)
        return index

    def _page_finding(
        self,
        stored: StoredPage,
        limit: int,
        index: "Index",
        question: str,
        vector: "Vectors | None",
    ) -> Finding:
        ranking = index.ask(question, vector, limit=limit, threshold=self._threshold)
        score = ranking.passages[0].score if ranking.passages else 0.0
        note = ""
        if whole := whole_page(stored.chunks, stored.entry.total, score):
            passages: Sequence[Passage] = [whole]
        elif ranking.passages:
            passages = ranking.passages
        else:
            passages, note = _longest(stored.chunks, min(limit, LONGEST_PARTS)), LONGEST
        return Finding(question, _cited(stored, passages), ranking.answered, note, ranking.unsure)

    async def _library_finding(
        self, question: str, vector: "Vectors | None", limit: int, scope: RecallScope
    ) -> Finding:
        from kindly.text.terms import terms

        candidates = await self._store.candidates(terms(question), vector, CANDIDATES, scope)
        return await anyio.to_thread.run_sync(
            partial(self._best_of, candidates, question, vector, limit)
        )

    def _best_of(
        self, candidates: Sequence[Candidate], question: str, vector: "Vectors | None", limit: int
    ) -> Finding:
        chunks = [one.chunk for one in candidates]
        vectors = {one.chunk.id: one.vector for one in candidates if one.vector is not None}
        index = _build(chunks, stacked(chunks, vectors))
        ranking = index.ask(
            question, vector, limit=limit, threshold=self._threshold, pages=_page_order(candidates)
        )
        passages = ranking.passages or _longest(chunks, min(limit, LONGEST_PARTS))
        pages = {one.chunk.id: one.entry for one in candidates}
        citations = tuple(
            Citation(pages[one.id], replace(one, total=pages[one.id].total)) for one in passages
        )
        return Finding(question, citations, ranking.answered, unsure=ranking.unsure)


def stacked(chunks: Sequence[Chunk], vectors: "Mapping[str, Vectors]") -> "Vectors | None":
    """One row per chunk; None if a vector is missing."""
    import numpy as np

    if not chunks or any(chunk.id not in vectors for chunk in chunks):
        return None
    return np.stack([vectors[chunk.id] for chunk in chunks])


def index_bytes(chunks: Sequence[Chunk]) -> int:
    """What the ranking index of these chunks takes in memory, about."""
    return BYTES_PER_CHARACTER * sum(len(chunk.text) for chunk in chunks)


def _build(chunks: Sequence[Chunk], vectors: "Vectors | None") -> "Index":
    from kindly.read.ranking.rank import Index

    return Index(chunks, vectors)


def _page_order(candidates: Sequence[Candidate]) -> "PageOrder":
    from kindly.read.pages.page_order import PageOrder

    return PageOrder(candidates)


def _longest(chunks: Sequence[Chunk], limit: int) -> tuple[Passage, ...]:
    longest = sorted(chunks, key=lambda chunk: -len(chunk.text))[:limit]
    return tuple(
        Passage(one.text, one.start, one.end, 0, one.id, one.section, 0.0) for one in longest
    )


def _cited(stored: StoredPage, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    entry = stored.entry
    return tuple(Citation(entry, one) for one in _with_total(passages, entry.total))


def _with_total(passages: Sequence[Passage], total: int) -> tuple[Passage, ...]:
    return tuple(replace(passage, total=total) for passage in passages)
