"""Chunks + question → passages, best first, and whether they answer it.

A passage is a run of sentences of one chunk: the window that scores best among those not yet taken, grown to a size.
Pure arithmetic over arrays; the store, the embedder and the page are others' business.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.errors import EmbeddingsDown
from kindly.models import Chunk, Passage
from kindly.read.ranking import ranker_model, static_model
from kindly.read.ranking.passage_features import asked, features
from kindly.read.ranking.segment import blocks
from kindly.read.ranking.sentence_index import lay_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.sentence_index import Sentence

    Vectors = NDArray[np.float32]
    Floats = NDArray[np.floating[Any]]

SIZES = (400, 280, 280, 280, 320, 380, 480, 512)
"""Tokens of the first passages; those after them are as large as the last one here."""
TAKEN = 2.0
"""What a window's score loses by the share of it that passages above it have already."""
LEAST_TOKENS = 20
"""Of what is left of a window; less is not worth a place, unless the window has no more."""
REST = 70
"""Tokens of a chunk that a passage takes in, too, rather than leave them over."""
SAME = 0.95
"""Terms in common, of all terms, from which two passages say the same."""
SERVER_WEIGHT = 0.5
"""Of a server's vectors, by how far a chunk stands out among the others."""
FADE = 0.1
"""How much of the distance to the best passage a passage's own score shows."""
MAX_QUESTION = 2000
"""Characters of a question that are read."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages, best first, and whether they answer."""

    passages: tuple[Passage, ...]
    """None where nothing answers."""
    answered: bool


class Index:
    """Chunks of one page, or of many, ready to be asked."""

    def __init__(self, chunks: Sequence[Chunk], vectors: "Vectors | None") -> None:
        self.chunks = tuple(chunks)
        self._model = local_model()
        self._grid = lay_out(self.chunks, self._model)
        self._vectors = None if self._are_own(vectors) else vectors
        self._places = _Places(self.chunks, self._grid.sentences)

    def ask(
        self,
        question: str,
        vector: "Vectors | None",
        *,
        limit: int,
        threshold: float = ranker_model.THRESHOLD,
    ) -> Ranking:
        """At most `limit` passages, if the best one reaches the threshold; at nought all do.

        `vector` is the question's, of the model that made the chunks'. Their own scores fall from the first on; one
        that is below the threshold supports the ones above it.
        """
        found = self.features(question)
        if not len(found):
            return Ranking((), answered=False)
        weights = ranker_model.load()
        scores = weights.scores(found) + self._by_server(vector)
        evidence = weights.evidence(found, scores)
        if ranker_model.on_scale(evidence) < threshold:
            return Ranking((), answered=False)
        passages = tuple(
            self._passage(span, ranker_model.on_scale(evidence - FADE * behind))
            for span, behind in self._select(scores, limit)
        )
        return Ranking(passages, answered=True)

    def features(self, question: str) -> "Floats":
        """Windows × features; no rows where there is nothing to find or nothing is asked."""
        one = asked(question[:MAX_QUESTION], self._grid, self._model)
        some = one.terms and self._grid.vocabulary
        return features(one) if some else np.zeros((0, 1), dtype=np.float32)

    def spans(self, scores: "Floats", limit: int) -> list[tuple[int, int]]:
        """Where in the document the passages lie that these scores choose."""
        chosen = self._select(scores, limit)
        return [self._places.span(begin, end) for (begin, end), _ in chosen]

    def windows(self) -> list[tuple[int, int]]:
        """Where in the document each window lies."""
        edges = zip(self._grid.begin.tolist(), self._grid.end.tolist(), strict=True)
        return [self._places.span(begin, end) for begin, end in edges]

    def _are_own(self, vectors: "Vectors | None") -> bool:
        """Whether the vectors are the local model's: those say nothing that the windows' do not say better."""
        if vectors is None or not self.chunks or self._model is None:
            return vectors is None or not self.chunks
        own = self._model.embed([self.chunks[0].text])[0]
        return own.shape == vectors[0].shape and float(own @ vectors[0]) > 0.999

    def _by_server(self, vector: "Vectors | None") -> "Floats":
        if self._vectors is None or vector is None or len(self.chunks) < 2:
            return np.zeros(len(self._grid.begin), dtype=np.float32)
        cosines = self._vectors @ vector
        apart = (cosines - cosines.mean()) / max(1e-6, float(cosines.std()))
        return np.asarray(SERVER_WEIGHT * apart[self._grid.chunk])

    def _select(self, scores: "Floats", limit: int) -> Iterator[tuple[tuple[int, int], float]]:
        """Sentence ranges, best first, with how far each is behind the first; none overlaps or repeats another."""
        grid, places = self._grid, self._places
        taken = np.zeros(len(grid.sentences), dtype=bool)
        worth = self._worth(scores, taken)
        said: list[frozenset[int]] = []
        shown: list[frozenset[int]] = []
        best = float(scores.max())
        while len(shown) < limit:
            window = int(worth.argmax())
            if worth[window] == -np.inf:
                return
            begin, end = _longest_free(taken, int(grid.begin[window]), int(grid.end[window]))
            terms = self._terms(begin, end)
            if any(_same(terms, other) for other in said):
                taken[begin:end] = True
                near = slice(
                    int(grid.end.searchsorted(begin, "right")), int(grid.begin.searchsorted(end))
                )
                worth[near] = self._worth(scores, taken, near)
                continue
            begin, end = self._grown(taken, begin, end, SIZES[min(len(shown), len(SIZES) - 1)])
            taken |= places.overlapping(begin, end)
            behind = best - float(worth[window])
            worth = self._worth(scores, taken)
            said.append(terms)
            grown = self._terms(begin, end)
            if any(_same(grown, other) for other in shown):
                continue
            shown.append(grown)
            yield (begin, end), behind

    def _worth(
        self, scores: "Floats", taken: "NDArray[np.bool_]", near: slice = slice(None)
    ) -> "Floats":
        """Windows' scores, less by what passages have of each already; none where too little is left."""
        begin, end = self._grid.begin[near], self._grid.end[near]
        low, high = int(begin[0]), int(end[-1])
        sizes = self._grid.sizes[low:high]
        running = np.zeros((high - low + 1, 2))
        np.cumsum(
            np.stack((sizes, np.where(taken[low:high], 0, sizes)), 1), axis=0, out=running[1:]
        )
        whole, left = (running[end - low] - running[begin - low]).T
        worth = scores[near] - TAKEN * (1 - left / whole)
        worth[left < np.minimum(LEAST_TOKENS, 0.99 * whole)] = -np.inf
        return np.asarray(worth)

    def _terms(self, begin: int, end: int) -> frozenset[int]:
        grid = self._grid
        return frozenset(
            grid.uses[np.searchsorted(grid.home, begin) : np.searchsorted(grid.home, end)].tolist()
        )

    def _grown(
        self, taken: "NDArray[np.bool_]", begin: int, end: int, size: int
    ) -> tuple[int, int]:
        """The range with free sentences of its chunk on either side: up to the size, and what would be left over."""
        sizes = self._grid.sizes
        low, high = self._free(taken, begin)
        room = size - float(sizes[begin:end].sum())
        grew = True
        while grew:
            grew = False
            if end < high and sizes[end] <= room:
                room, end, grew = room - float(sizes[end]), end + 1, True
            if begin > low and sizes[begin - 1] <= room:
                room, begin, grew = room - float(sizes[begin - 1]), begin - 1, True
        begin = low if sizes[low:begin].sum() <= REST else begin
        end = high if sizes[end:high].sum() <= REST else end
        return begin, end

    def _free(self, taken: "NDArray[np.bool_]", place: int) -> tuple[int, int]:
        """The run of sentences around a free one, within its chunk, that no passage has yet."""
        chunk = self._grid.sentences[place].chunk
        low, high = int(self._grid.first[chunk]), int(self._grid.first[chunk + 1])
        before, after = np.flatnonzero(taken[low:place]), np.flatnonzero(taken[place:high])
        return (
            low + int(before[-1]) + 1 if len(before) else low,
            place + int(after[0]) if len(after) else high,
        )

    def _passage(self, sentences: tuple[int, int], score: float) -> Passage:
        begin, end = sentences
        first, last = self._grid.sentences[begin], self._grid.sentences[end - 1]
        chunk = self.chunks[first.chunk]
        head = _repeated(chunk)
        text = chunk.text[first.start : last.end]
        if first.start < len(head):
            text = chunk.text[: last.end]
        elif head:
            text = head + text
        start, stop = self._places.span(begin, end)
        section = _section(chunk, first.start)
        return Passage(text, start, stop, stop, chunk.id, section, round(score, 4))


class _Places:
    """Where sentences lie in their documents."""

    def __init__(self, chunks: Sequence[Chunk], sentences: Sequence["Sentence"]) -> None:
        heads = [len(_repeated(chunk)) for chunk in chunks]
        pages: dict[str, int] = {}
        numbers = [pages.setdefault(chunk.url, len(pages)) for chunk in chunks]
        at = [
            (chunks[one.chunk].start - heads[one.chunk], heads[one.chunk], one) for one in sentences
        ]
        self._page = np.array([numbers[one.chunk] for one in sentences], dtype=np.intp)
        self._start = np.array(
            [base + max(head, one.start) for base, head, one in at], dtype=np.intp
        )
        self._end = np.array([base + max(head, one.end) for base, head, one in at], dtype=np.intp)

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """The range of offsets of a range of sentences."""
        return int(self._start[begin]), int(self._end[end - 1])

    def overlapping(self, begin: int, end: int) -> "NDArray[np.bool_]":
        """Which sentences share text with these, here or in the overlap of chunks."""
        start, stop = self.span(begin, end)
        same = self._page == self._page[begin]
        found = np.asarray(same & (self._start < stop) & (self._end > start))
        found[begin:end] = True
        return found


def local_model() -> static_model.StaticModel | None:
    """The local model, or none if it is not installed whole: words alone decide then."""
    try:
        return static_model.load()
    except EmbeddingsDown:
        return None


def _longest_free(taken: "NDArray[np.bool_]", begin: int, end: int) -> tuple[int, int]:
    """The longest run of sentences that no passage has yet."""
    used = np.flatnonzero(taken[begin:end]) + begin
    if not len(used):
        return begin, end
    edges = [begin - 1, *used.tolist(), end]
    runs = [(left + 1, right) for left, right in pairwise(edges)]
    return max(runs, key=lambda run: run[1] - run[0])


def _same(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= SAME * max(1, len(one | other))


def _repeated(chunk: Chunk) -> str:
    """The head of a table that stands before some rows of it."""
    return chunk.text[: max(0, len(chunk.text) - (chunk.end - chunk.start))]


def _section(chunk: Chunk, start: int) -> tuple[str, ...]:
    """The headings above a place in a chunk: the chunk's own, and those within it."""
    inner: list[tuple[int, str]] = []
    stop = chunk.text.find("\n", start)
    for block in blocks(chunk.text[:stop] if stop >= 0 else chunk.text):
        if block.kind == "heading" and block.title not in chunk.section:
            inner = [one for one in inner if one[0] < block.level]
            inner.append((block.level, block.title))
    return (*chunk.section, *(title for _, title in inner))
