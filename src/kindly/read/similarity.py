"""Similarity search: the chunks of one page whose vectors are close to a question's. The score is the cosine.

Nothing is learned here: a threshold on the cosine decides, and words only order chunks of equal cosine. Without vectors
words decide, then length, and a note says so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from kindly.models import Chunk, Citation, Finding, Passage
from kindly.read.embedder import Embedder
from kindly.read.questions import question_vectors, with_note
from kindly.read.row_format import indexed_terms
from kindly.read.store import StoredPage
from kindly.text.terms import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Floats = NDArray[np.floating[Any]]

DIGITS = 4
"""Of a score. The threshold is compared with the rounded score, which is what the answer shows."""
BY_WORDS = "The scores are word scores between 0 and 1 (BM25), not cosines."
LONGEST = (
    "The longest parts of the page follow with score 0, because neither embeddings nor words match."
)

Scored = tuple[int, float]
"""The position of a chunk on its page, and its score."""


class SimilaritySearch:
    """Finds the chunks of a page that have at least `threshold` as cosine."""

    def __init__(self, embedder: Embedder, threshold: float) -> None:
        self._embedder = embedder
        self._threshold = threshold

    async def search(
        self, stored: StoredPage, questions: Sequence[str], limit: int
    ) -> tuple[Finding, ...]:
        """At most `limit` whole chunks for each question, best first. The note on missing vectors is on the first."""
        vectors, note = await question_vectors(self._embedder, stored, questions)
        find = partial(_finding, stored, limit, self._threshold)
        findings = [
            await anyio.to_thread.run_sync(find, question, vector)
            for question, vector in zip(questions, vectors, strict=True)
        ]
        return with_note(findings, note)


def _finding(
    stored: StoredPage, limit: int, threshold: float, question: str, vector: "Vectors | None"
) -> Finding:
    chunks, note = stored.chunks, ""
    if stored.vectors is not None and vector is not None:
        found = by_cosine(question, chunks, stored.vectors @ vector, threshold)
    elif found := by_words(question, chunks):
        note = BY_WORDS
    else:
        found, note = by_length(chunks), LONGEST
    citations = tuple(
        Citation(stored.entry, _whole(chunks[position], score, stored.entry.total))
        for position, score in islice(_without_duplicates(chunks, found), limit)
    )
    return Finding(question, citations, bool(citations), note)


def by_cosine(
    question: str, chunks: Sequence[Chunk], cosines: "Floats", threshold: float
) -> list[Scored]:
    """The chunks at or above the threshold, best first; equal ones by words, then by position."""
    scores = [round(cosine, DIGITS) + 0.0 for cosine in cosines.clip(-1, 1).tolist()]  # no -0.0
    found = [(position, score) for position, score in enumerate(scores) if score >= threshold]
    ties = len({score for _, score in found}) < len(found)
    words = word_scores(question, chunks).tolist() if ties else [0.0] * len(chunks)
    return sorted(found, key=lambda one: (-one[1], -words[one[0]], one[0]))


def by_words(question: str, chunks: Sequence[Chunk]) -> list[Scored]:
    """The chunks that contain a word of the question, best first."""
    scores = word_scores(question, chunks).tolist()
    found = [(position, round(score, DIGITS)) for position, score in enumerate(scores) if score > 0]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def by_length(chunks: Sequence[Chunk]) -> list[Scored]:
    """All chunks, the longest first, with score 0."""
    order = sorted(range(len(chunks)), key=lambda position: -len(chunks[position].text))
    return [(position, 0.0) for position in order]


def word_scores(question: str, chunks: Sequence[Chunk]) -> "Floats":
    """BM25 of each chunk's headings and text, mapped to the range from 0 to below 1."""
    import numpy as np

    from kindly.read.ranking.passage_features import bm25
    from kindly.read.ranking.sentence_index import inverse_frequency

    asked = list(dict.fromkeys(terms(question)))
    counts = [Counter(indexed_terms(chunk)) for chunk in chunks]
    uses = np.array([[one[term] for term in asked] for one in counts], dtype=np.float32)
    uses = uses.reshape(len(chunks), len(asked))
    lengths = np.array([one.total() for one in counts], dtype=np.float32)
    weights = inverse_frequency((uses > 0).sum(axis=0), len(chunks))
    scores = bm25(uses, lengths, weights)
    return np.asarray(scores / (1 + scores))


def _without_duplicates(chunks: Sequence[Chunk], found: Iterable[Scored]) -> Iterator[Scored]:
    """The chunks without those that have the same words in the same order as one above."""
    seen: set[tuple[str, ...]] = set()
    for position, score in found:
        words = tuple(terms(chunks[position].text))
        if words not in seen:
            seen.add(words)
            yield position, score


def _whole(chunk: Chunk, score: float, total: int) -> Passage:
    return Passage(chunk.text, chunk.start, chunk.end, total, chunk.id, chunk.section, score)
