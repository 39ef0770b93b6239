"""Chunks → an inverted index over sentences and windows of sentences, as arrays that a question is scored against.

A window is a run of whole sentences of one chunk, up to a number of tokens; one starts at each sentence. Sentences,
windows and terms are numbered throughout. Nothing here knows the question.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.models import Chunk
from kindly.read.ranking.segment import Kind, blocks, sentences
from kindly.text.terms import term_words, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.static_model import StaticModel

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]

WINDOW_TOKENS = 280
_WIDE = re.compile("[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""Characters that are about one token each."""
PREFIX = 4
"""First letters by which different terms count as related."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, heading, or line of code or table; offsets are into its chunk's text."""

    chunk: int
    start: int
    end: int
    kind: Kind


@dataclass(frozen=True)
class Sentences:
    """The sentences of all chunks, in order. `S` is their number, `C` that of the chunks."""

    spans: tuple[Sentence, ...]
    tokens: "Floats"
    """S: its size."""
    term_counts: "Ints"
    """S: how many terms it has."""
    chunk_bounds: "Ints"
    """C + 1: where the sentences of each chunk start."""
    vector_lengths: "Floats"
    """S: the norm of the sum of its word vectors, weighted by IDF."""

    def __len__(self) -> int:
        return len(self.spans)


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

    vocabulary: dict[str, int]
    terms: "Ints"
    """T: which term, in the order of the text."""
    sentences: "Ints"
    """T: in which sentence."""
    by_term: "Ints"
    """T: the occurrences, ordered by their term."""
    term_bounds: "Ints"
    """V + 1: where each term's part of `by_term` starts."""
    idf: "Floats"
    """V: BM25's inverse document frequency, with sentences as documents."""

    def of(self, term: int) -> "Ints":
        """The occurrences of a term."""
        return self.by_term[self.term_bounds[term] : self.term_bounds[term + 1]]


@dataclass(frozen=True)
class Prefixes:
    """The first letters of terms, numbered."""

    numbers: dict[str, int]
    of_occurrences: "Ints"
    """T: the prefix of each occurrence's term."""


@dataclass(frozen=True)
class WordVectors:
    """The static model's vectors of the vocabulary; zero without a model."""

    units: "NDArray[np.float16]"
    """V: of length one."""
    lengths: "Floats"
    """V: the norm before that. It tells how specific the word is."""


@dataclass(frozen=True)
class SentenceIndex:
    """The index of some chunks."""

    sentences: Sentences
    windows: Windows
    postings: Postings
    prefixes: Prefixes
    vectors: WordVectors
    headings: tuple["Ints", ...]
    """For each chunk, the terms of its headings."""
    ascii_share: float
    """The share of words in ASCII."""


def build_index(
    chunks: Sequence[Chunk], model: "StaticModel | None", *, window_tokens: int = WINDOW_TOKENS
) -> SentenceIndex:
    """Build the index. Without a model, vectors are zero; with `window_tokens=0` each sentence is its own window."""
    spans = tuple(_all_sentences(chunks))
    sizes = np.array(
        [_tokens(chunks[one.chunk].text[one.start : one.end]) for one in spans], dtype=np.float32
    )
    numbers = _TermNumbers()
    terms: list[int] = []
    counts: list[int] = []
    for one in spans:
        before = len(terms)
        terms += numbers.of(chunks[one.chunk].text[one.start : one.end])
        counts.append(len(terms) - before)
    headings = _headings(chunks, numbers)
    term_counts = np.array(counts, dtype=np.intp)
    postings = _postings(np.array(terms, dtype=np.intp), term_counts, numbers.vocabulary)
    chunk_of = np.array([one.chunk for one in spans], dtype=np.intp)
    chunk_bounds = np.searchsorted(chunk_of, np.arange(len(chunks) + 1)).astype(np.intp)
    begin, end = _windows(sizes, chunk_bounds, window_tokens)
    vectors = _vectors(numbers.words, model)
    sentence_lengths, window_lengths = _vector_lengths(
        vectors * postings.idf[:, None], postings.terms, term_counts, chunk_bounds, (begin, end)
    )
    lengths = _norms(vectors)
    return SentenceIndex(
        sentences=Sentences(spans, sizes, term_counts, chunk_bounds, sentence_lengths),
        windows=Windows(
            begin=begin,
            end=end,
            chunk=chunk_of[begin],
            offset=np.array([one.start for one in chunks], dtype=np.intp)[chunk_of[begin]]
            + np.array([one.start for one in spans], dtype=np.intp)[begin],
            vector_lengths=window_lengths,
        ),
        postings=postings,
        prefixes=_prefixes(postings),
        vectors=WordVectors(
            (vectors / np.maximum(lengths, 1e-6)[:, None]).astype(np.float16), lengths
        ),
        headings=headings,
        ascii_share=sum(map(str.isascii, numbers.words)) / max(1, len(numbers.words)),
    )


def inverse_frequency(counts: "Ints", total: int) -> "Floats":
    """BM25's inverse document frequency of terms that are in `counts` of `total` documents."""
    return np.asarray(np.log(1 + (total - counts + 0.5) / (counts + 0.5)), dtype=np.float32)


def _all_sentences(chunks: Sequence[Chunk]) -> Iterator[Sentence]:
    """The sentences of all chunks, without a cut first one that the chunk before has whole."""
    url = ""
    before: list[tuple[int, int]] = []
    for number, chunk in enumerate(chunks):
        found = _sentences(number, chunk)
        base = chunk.end - len(chunk.text)
        here = [(base + one.start, base + one.end) for one in found]
        is_cut = (
            chunk.url == url
            and len(found) > 1
            and any(start < chunk.start < end and here[0][1] <= end for start, end in before)
        )
        url, before = chunk.url, here
        yield from found[1:] if is_cut else found


def _sentences(number: int, chunk: Chunk) -> list[Sentence]:
    text = chunk.text
    found: list[Sentence] = []
    for block in blocks(text):
        if block.kind == "prose":
            spans = sentences(text, block.start, block.end)
        elif block.kind == "heading":
            spans = [(block.start, block.end)]
        else:
            spans = _lines(text, block.start, block.end)
        found += [Sentence(number, *span, block.kind) for span in spans]
    return found


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if stop > start:
            found.append((start, stop))
        start = stop + 1
    return found


def _tokens(text: str) -> float:
    """An estimate by characters, so that a window holds as much in any script: the budget counts bytes."""
    if text.isascii():
        return len(text) / 4 + 0.25
    wide = sum(map(len, _WIDE.findall(text)))
    return wide * 0.75 + (len(text) - wide) / 3.5 + 0.25


class _TermNumbers(dict[str, tuple[int, ...]]):
    """Tokens → the numbers of their terms, in order of first use."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self.words: list[str] = []

    def of(self, text: str) -> Iterator[int]:
        """The numbers of a text's terms."""
        return chain.from_iterable(map(self.__getitem__, tokens(text)))

    def __missing__(self, token: str) -> tuple[int, ...]:
        numbers = self[token] = tuple(self._number(*pair) for pair in term_words(token))
        return numbers

    def _number(self, term: str, word: str) -> int:
        number = self.vocabulary.setdefault(term, len(self.words))
        if number == len(self.words):
            self.words.append(word)
        return number


def _headings(chunks: Sequence[Chunk], numbers: _TermNumbers) -> tuple["Ints", ...]:
    known: dict[tuple[str, ...], Ints] = {}
    for chunk in chunks:
        if chunk.section not in known:
            found = sorted(set(numbers.of("\n".join(chunk.section))))
            known[chunk.section] = np.array(found, dtype=np.intp)
    return tuple(known[chunk.section] for chunk in chunks)


def _postings(terms: "Ints", counts: "Ints", vocabulary: dict[str, int]) -> Postings:
    sentence = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    by_term = np.argsort(terms, kind="stable")
    return Postings(
        vocabulary=vocabulary,
        terms=terms,
        sentences=sentence,
        by_term=by_term,
        term_bounds=np.searchsorted(terms[by_term], np.arange(len(vocabulary) + 1)),
        idf=_idf(terms, sentence, len(vocabulary), len(counts)),
    )


def _idf(terms: "Ints", sentence: "Ints", vocabulary: int, total: int) -> "Floats":
    pairs = np.unique(sentence * max(1, vocabulary) + terms)
    counts = np.bincount(pairs % max(1, vocabulary), minlength=vocabulary)
    return inverse_frequency(counts, total)


def _prefixes(postings: Postings) -> Prefixes:
    numbers: dict[str, int] = {}
    of_terms = [numbers.setdefault(term[:PREFIX], len(numbers)) for term in postings.vocabulary]
    return Prefixes(numbers, np.array(of_terms, dtype=np.intp)[postings.terms])


def _windows(sizes: "Floats", chunk_bounds: "Ints", max_tokens: int) -> "tuple[Ints, Ints]":
    """From each sentence as far as the size allows; none that is only the end of the one before."""
    begins: list[int] = []
    ends: list[int] = []
    tokens = sizes.tolist()
    for start, stop in pairwise(chunk_bounds.tolist()):
        right, total = start, 0.0
        for left in range(start, stop):
            while right < stop and (right == left or total + tokens[right] <= max_tokens):
                total += tokens[right]
                right += 1
            begins.append(left)
            ends.append(right)
            if right == stop:
                break
            total -= tokens[left]
    return np.array(begins, dtype=np.intp), np.array(ends, dtype=np.intp)


def _vectors(words: Sequence[str], model: "StaticModel | None") -> "Floats":
    return np.zeros((len(words), 1), dtype=np.float32) if model is None else model.words(words)


def _vector_lengths(
    vectors: "Floats",
    terms: "Ints",
    term_counts: "Ints",
    chunk_bounds: "Ints",
    windows: "tuple[Ints, Ints]",
) -> "tuple[Floats, Floats]":
    """The norms of the summed vectors of each sentence and each window; chunk by chunk, to bound memory."""
    sentence_lengths = np.zeros(len(term_counts), dtype=np.float32)
    window_lengths = np.zeros(len(windows[0]), dtype=np.float32)
    starts = np.concatenate(([0], np.cumsum(term_counts)))
    window_bounds = np.searchsorted(windows[0], chunk_bounds)
    for number, (low, high) in enumerate(pairwise(chunk_bounds.tolist())):
        here, column = np.unique(terms[starts[low] : starts[high]], return_inverse=True)
        if not len(here):
            continue
        row = np.repeat(np.arange(high - low), term_counts[low:high])
        table = np.bincount(row * len(here) + column, minlength=(high - low) * len(here))
        sums = table.reshape(high - low, len(here)).astype(np.float32) @ vectors[here]
        sentence_lengths[low:high] = _norms(sums)
        running = np.zeros((high - low + 1, sums.shape[1]), dtype=np.float32)
        np.cumsum(sums, axis=0, out=running[1:])
        own = slice(window_bounds[number], window_bounds[number + 1])
        window_lengths[own] = _norms(
            running[windows[1][own] - low] - running[windows[0][own] - low]
        )
    return sentence_lengths, window_lengths


def _norms(rows: "Floats") -> "Floats":
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)), dtype=np.float32)
