"""Prepared chunks → an inverted index over sentences and windows of sentences, as arrays for questions to be scored by.

A window is a run of whole sentences of one chunk, up to a number of tokens; one starts at each sentence. Sentences,
windows and terms are numbered throughout. Nothing here knows the question.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.frozen import frozen
from kindly.models import Chunk
from kindly.read.ranking.prepared import (
    KINDS,
    WINDOW_TOKENS,
    Prepared,
    prefix_key,
    prepare,
    term_key,
    window_ends,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.segment import Kind
    from kindly.read.ranking.static_model import StaticModel

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]


@frozen
class Sentence:
    """A sentence, heading, or line of code or table; offsets are into its chunk's text."""

    chunk: int
    start: int
    end: int
    kind: "Kind"


@dataclass(frozen=True)
class Sentences:
    """The sentences of all chunks, in order. `S` is their number, `C` that of the chunks."""

    chunk: "Ints"
    """S: its chunk."""
    start: "Ints"
    """S: offsets into the chunk's text."""
    end: "Ints"
    kind: "Ints"
    """S: its number in `KINDS`."""
    tokens: "Floats"
    """S: its size."""
    term_counts: "Ints"
    """S: how many terms it has."""
    chunk_bounds: "Ints"
    """C + 1: where the sentences of each chunk start."""
    vector_lengths: "Floats"
    """S: the norm of the sum of its word vectors, weighted by IDF."""
    marks: "Ints"
    """S: its `sentence_marks.SentenceMark`s."""
    capitals: "Ints"
    """S: words that begin with a capital, after the first."""
    numbers: "Ints"
    """S: words that begin with a digit."""

    def __len__(self) -> int:
        return len(self.chunk)

    @cached_property
    def spans(self) -> tuple[Sentence, ...]:
        """The sentences as objects."""
        columns = (self.chunk.tolist(), self.start.tolist(), self.end.tolist(), self.kind.tolist())
        return tuple(
            Sentence(chunk, start, end, KINDS[kind])
            for chunk, start, end, kind in zip(*columns, strict=True)
        )


@dataclass(frozen=True)
class Windows:
    """Runs of sentences. `W` is their number."""

    begin: "Ints"
    """W: the first sentence."""
    end: "Ints"
    """W: one past the last sentence."""
    chunk: "Ints"
    """W: its chunk."""
    offset: "Ints"
    """W: characters of the page before it."""
    vector_lengths: "Floats"
    """W: the norm of the sum of its word vectors, weighted by IDF."""

    def __len__(self) -> int:
        return len(self.begin)


@dataclass(frozen=True)
class Postings:
    """Where each term occurs. `T` is the number of occurrences, `V` that of terms."""

    keys: "NDArray[np.uint64]"
    """V: the key of each term, ascending."""
    terms: "Ints"
    """T: which term, in the order of the text."""
    sentences: "Ints"
    """T: in which sentence."""
    idf: "Floats"
    """V: BM25's inverse document frequency, with sentences as documents."""

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, term: str) -> int:
        """The number of a term; -1 if there is none."""
        key = np.uint64(term_key(term))
        place = int(self.keys.searchsorted(key))
        return place if place < len(self.keys) and self.keys[place] == key else -1

    def of(self, term: int) -> "Ints":
        """The occurrences of a term."""
        return np.flatnonzero(self.terms == term)

    def of_prefix(self, term: str) -> "Ints":
        """The occurrences of terms with the same first letters."""
        prefix = prefix_key(term)
        edges = np.array((prefix << 32, (prefix << 32) + 0xFFFF_FFFF), dtype=np.uint64)
        low, high = self.keys.searchsorted(edges[0]), self.keys.searchsorted(edges[1], "right")
        return np.flatnonzero((self.terms >= low) & (self.terms < high))


@dataclass(frozen=True)
class WordVectors:
    """The static model's vectors of the vocabulary, as the tokens that they are sums of; zero without a model."""

    model: "StaticModel | None"
    lengths: "Floats"
    """V: their norms. A norm tells how specific the word is."""
    tokens: "Ints"
    """The distinct tokens of all words."""
    places: "Ints"
    """The place in `tokens` of each word's tokens, word by word."""
    starts: "Ints"
    """V + 1: where each word's part of `places` starts."""

    def rows(self) -> "Floats":
        """The vectors of `tokens`."""
        if self.model is None:
            return np.zeros((0, 1), dtype=np.float32)
        return self.model.table[self.tokens].astype(np.float32)

    def words(self) -> "Floats":
        """The vectors of the vocabulary."""
        return _sums(self.rows(), self.places, self.starts)

    def products(self, rows: "Floats", vectors: "Floats") -> "Floats":
        """Given vectors × vocabulary: their products with the word vectors of length one."""
        if self.model is None or not len(self.lengths):
            return np.zeros((len(vectors), len(self.lengths)), dtype=np.float32)
        of_tokens = rows @ vectors.T
        of_words = np.add.reduceat(of_tokens[self.places], self.starts[:-1], axis=0)
        return np.asarray(of_words.T / np.maximum(self.lengths, 1e-6))

    def total(self, rows: "Floats", weights: "Floats") -> "Floats":
        """The sum of the word vectors of length one, each times its weight."""
        each = np.repeat(weights / np.maximum(self.lengths, 1e-6), np.diff(self.starts))
        return np.bincount(self.places, each, len(self.tokens)).astype(np.float32) @ rows


@dataclass(frozen=True)
class Headings:
    """The terms of the headings above each chunk."""

    terms: "Ints"
    """All of them, chunk by chunk."""
    bounds: "Ints"
    """C + 1: where the terms of each chunk start."""


@dataclass(frozen=True)
class SentenceIndex:
    """The index of some chunks."""

    sentences: Sentences
    windows: Windows
    postings: Postings
    vectors: WordVectors
    headings: Headings
    ascii_share: float
    """The share of words in ASCII."""


def build_index(
    chunks: Sequence[Chunk],
    model: "StaticModel | None",
    *,
    prepared: Sequence[Prepared] | None = None,
    window_tokens: int = WINDOW_TOKENS,
) -> SentenceIndex:
    """Build the index; `prepared` saves the preparation of the chunks.

    Without a model, vectors are zero; with `window_tokens=0` each sentence is its own window.
    """
    parts = _without_cut(chunks, prepare(chunks, model) if prepared is None else prepared)
    per_chunk = np.array([len(one.sizes) for one in parts], dtype=np.intp)
    chunk_bounds = _edges(per_chunk)
    counts = _joined([one.counts for one in parts])
    vocabulary = _Vocabulary.of(parts)
    idf = inverse_frequency(vocabulary.frequencies, len(counts))
    vectors, words = _vectors(parts, vocabulary, model)
    begin, end, windows_of = _windows(parts, chunk_bounds, window_tokens)
    sentence_lengths, window_lengths = _vector_lengths(
        parts, vocabulary, words * idf[:, None], chunk_bounds, (begin, end, _edges(windows_of))
    )
    start = _joined([one.starts for one in parts])
    window_chunk = np.repeat(np.arange(len(parts)), windows_of)
    return SentenceIndex(
        sentences=Sentences(
            chunk=np.repeat(np.arange(len(parts)), per_chunk),
            start=start,
            end=_joined([one.ends for one in parts]),
            kind=_joined([one.kinds for one in parts]),
            tokens=np.concatenate([*(one.sizes for one in parts), np.zeros(0, np.float32)]),
            term_counts=counts,
            chunk_bounds=chunk_bounds,
            vector_lengths=sentence_lengths,
            marks=_joined([one.marks for one in parts]),
            capitals=_joined([one.capitals for one in parts]),
            numbers=_joined([one.numbers for one in parts]),
        ),
        windows=Windows(
            begin=begin,
            end=end,
            chunk=window_chunk,
            offset=np.array([one.start for one in chunks], dtype=np.intp)[window_chunk]
            + start[begin],
            vector_lengths=window_lengths,
        ),
        postings=Postings(
            keys=vocabulary.keys,
            terms=vocabulary.occurrences,
            sentences=np.repeat(np.arange(len(counts)), counts),
            idf=idf,
        ),
        vectors=vectors,
        headings=vocabulary.headings,
        ascii_share=vocabulary.ascii_share,
    )


def inverse_frequency(counts: "Ints", total: int) -> "Floats":
    """BM25's inverse document frequency of terms that are in `counts` of `total` documents."""
    return np.asarray(np.log(1 + (total - counts + 0.5) / (counts + 0.5)), dtype=np.float32)


def _without_cut(chunks: Sequence[Chunk], prepared: Sequence[Prepared]) -> list[Prepared]:
    """The chunks, without a cut first sentence that the chunk before has whole."""
    found = list(prepared)
    for number, (before, chunk) in enumerate(pairwise(chunks), 1):
        if before.url == chunk.url and before.end > chunk.start and len(prepared[number].sizes) > 1:
            earlier = before.end - len(before.text)
            starts, ends = (
                prepared[number - 1].starts + earlier,
                prepared[number - 1].ends + earlier,
            )
            first = chunk.end - len(chunk.text) + int(prepared[number].ends[0])
            if ((starts < chunk.start) & (chunk.start < ends) & (first <= ends)).any():
                found[number] = prepared[number].without_first()
    return found


@dataclass(frozen=True)
class _Vocabulary:
    """The terms of all chunks, numbered in the order of their keys."""

    keys: "NDArray[np.uint64]"
    first: "Ints"
    """V: the place of the term's first word among the words of all chunks, then of all headings."""
    numbers: "Ints"
    """The number of each chunk's terms, chunk by chunk."""
    bounds: "Ints"
    """C + 1: where the terms of each chunk start in `numbers`."""
    frequencies: "Ints"
    """V: how many sentences have the term."""
    occurrences: "Ints"
    headings: Headings
    ascii_share: float

    @classmethod
    def of(cls, parts: Sequence[Prepared]) -> "_Vocabulary":
        own = [len(one.frequencies) for one in parts]
        texts = [one.keys[:count] for one, count in zip(parts, own, strict=True)]
        above = [one.keys[count:] for one, count in zip(parts, own, strict=True)]
        joined = np.concatenate([*texts, *above, np.zeros(0, np.uint64)])
        keys, first, numbers = np.unique(joined, return_index=True, return_inverse=True)
        bounds = _edges(np.array(own, dtype=np.intp))
        here = numbers[: bounds[-1]]
        frequencies = _joined([one.frequencies for one in parts])
        local = _joined([one.terms for one in parts])
        local += np.repeat(bounds[:-1], [len(one.terms) for one in parts])
        ascii_ = [one.ascii[:count] for one, count in zip(parts, own, strict=True)]
        ascii_ += [one.ascii[count:] for one, count in zip(parts, own, strict=True)]
        return cls(
            keys=keys,
            first=first,
            numbers=here,
            bounds=bounds,
            frequencies=np.bincount(here, frequencies, len(keys)).astype(np.intp),
            occurrences=here[local],
            headings=Headings(
                numbers[bounds[-1] :], _edges(np.array([len(one) for one in above], dtype=np.intp))
            ),
            ascii_share=float(_joined(ascii_)[first].mean()) if len(first) else 0.0,
        )


def _vectors(
    parts: Sequence[Prepared], vocabulary: _Vocabulary, model: "StaticModel | None"
) -> "tuple[WordVectors, Floats]":
    """The vectors of the vocabulary: as sums of tokens, and as rows."""
    if model is None or not len(vocabulary.keys):
        nothing = np.zeros(0, dtype=np.intp)
        lengths = np.zeros(len(vocabulary.keys), dtype=np.float32)
        starts = np.zeros(len(lengths) + 1, dtype=np.intp)
        empty = WordVectors(None, lengths, nothing, nothing, starts)
        return empty, np.zeros((len(lengths), 1), dtype=np.float32)
    flat, counts, starts = _word_tokens(parts)
    chosen = counts[vocabulary.first]
    edges = _edges(chosen)
    places = np.repeat(starts[vocabulary.first] - edges[:-1], chosen) + np.arange(edges[-1])
    tokens, places = np.unique(flat[places], return_inverse=True)
    rows = model.table[tokens].astype(np.float32)
    words = _sums(rows, places, edges)
    return WordVectors(model, _norms(words), tokens, places, edges), words


def _sums(rows: "Floats", places: "Ints", edges: "Ints") -> "Floats":
    """The sum of the rows at each part's places: all first ones, then all second ones; `reduceat` is slower."""
    counts = np.diff(edges)
    sums = rows[places[edges[:-1]]]
    for number in range(1, int(counts.max(initial=0))):
        more = np.flatnonzero(counts > number)
        sums[more] += rows[places[edges[more] + number]]
    return sums


def _word_tokens(parts: Sequence[Prepared]) -> "tuple[Ints, Ints, Ints]":
    """The tokens of all words, and how many each word has and where they start; texts first, then headings."""
    own = [len(one.frequencies) for one in parts]
    each = [one.pieces for one in parts]
    split = [int(one[:count].sum()) for one, count in zip(each, own, strict=True)]
    flat = _joined(
        [one.tokens[:count] for one, count in zip(parts, split, strict=True)]
        + [one.tokens[count:] for one, count in zip(parts, split, strict=True)]
    )
    counts = _joined(
        [one[:count] for one, count in zip(each, own, strict=True)]
        + [one[count:] for one, count in zip(each, own, strict=True)]
    )
    return flat, counts, _edges(counts)


def _windows(
    parts: Sequence[Prepared], chunk_bounds: "Ints", max_tokens: int
) -> "tuple[Ints, Ints, Ints]":
    """The first sentence of each window and one past its last; and how many each chunk has."""
    if max_tokens == WINDOW_TOKENS:
        ends = [one.window_ends for one in parts]
    else:
        ends = [np.array(window_ends(one.sizes.tolist(), max_tokens)) for one in parts]
    counts = np.array([len(one) for one in ends], dtype=np.intp)
    base = np.repeat(chunk_bounds[:-1], counts)
    within = np.arange(len(base)) - np.repeat(_edges(counts)[:-1], counts)
    return base + within, base + _joined(ends), counts


def _vector_lengths(
    parts: Sequence[Prepared],
    vocabulary: _Vocabulary,
    vectors: "Floats",
    chunk_bounds: "Ints",
    windows: "tuple[Ints, Ints, Ints]",
) -> "tuple[Floats, Floats]":
    """The norms of the summed vectors of each sentence and each window; chunk by chunk, to bound memory."""
    begin, end, window_bounds = windows
    sentence_lengths = np.zeros(chunk_bounds[-1], dtype=np.float32)
    window_lengths = np.zeros(len(begin), dtype=np.float32)
    bounds, edges, of_windows = (
        vocabulary.bounds.tolist(),
        chunk_bounds.tolist(),
        window_bounds.tolist(),
    )
    every = np.arange(chunk_bounds[-1])
    for number, one in enumerate(parts):
        words = bounds[number + 1] - bounds[number]
        if not words:
            continue
        low, high = edges[number], edges[number + 1]
        own = slice(of_windows[number], of_windows[number + 1])
        row = np.repeat(np.arange(0, (high - low) * words, words), one.counts)
        table = np.bincount(row + one.terms, minlength=(high - low) * words)
        here = vectors[vocabulary.numbers[bounds[number] : bounds[number + 1]]]
        sums = table.reshape(high - low, words).astype(np.float32) @ here
        sentence_lengths[low:high] = _norms(sums)
        inside = (begin[own, None] <= every[low:high]) & (every[low:high] < end[own, None])
        window_lengths[own] = _norms(inside.astype(np.float32) @ sums)
    return sentence_lengths, window_lengths


def _joined(arrays: "Sequence[NDArray[Any]]") -> "Ints":
    return np.concatenate([*arrays, np.zeros(0, np.intp)], dtype=np.intp, casting="unsafe")


def _edges(counts: "Ints") -> "Ints":
    """Where each part starts, and the end of the last."""
    return np.concatenate(([0], np.cumsum(counts))).astype(np.intp)


def _norms(rows: "Floats") -> "Floats":
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)), dtype=np.float32)
