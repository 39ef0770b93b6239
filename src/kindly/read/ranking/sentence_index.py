"""Chunks → sentences and windows of sentences, as arrays: what a question is scored against.

A window is a run of whole sentences of one chunk, up to a size; there is one from each sentence on. Term, sentence and
window numbers stand for texts throughout. Nothing here knows the question.
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
"""Characters that are a token or nearly one each."""
PREFIX = 4
"""Letters by which words are taken as kin where their terms differ."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, heading, or line of code or table; offsets are into its chunk's text."""

    chunk: int
    start: int
    end: int
    kind: Kind


@dataclass(frozen=True)
class SentenceIndex:
    """All arrays of some chunks. `S` sentences, `W` windows, `T` uses of `V` terms, `C` chunks."""

    sentences: tuple[Sentence, ...]
    sizes: "Floats"
    """S: tokens."""
    counts: "Ints"
    """S: terms."""
    first: "Ints"
    """C + 1: where each chunk's sentences begin."""
    begin: "Ints"
    """W: the first sentence."""
    end: "Ints"
    """W: behind the last one."""
    chunk: "Ints"
    """W: its chunk."""
    offset: "Ints"
    """W: characters of the page before it."""
    vocabulary: dict[str, int]
    uses: "Ints"
    """T: which term."""
    home: "Ints"
    """T: in which sentence."""
    postings: "Ints"
    """T: uses in the order of their terms."""
    bounds: "Ints"
    """V + 1: where each term's postings begin."""
    rarity: "Floats"
    """V: BM25's inverse frequency over sentences."""
    kin: "Ints"
    """T: the prefix that the term begins with."""
    prefixes: dict[str, int]
    heads: tuple["Ints", ...]
    """C: the terms of its headings."""
    meaning: "NDArray[np.float16]"
    """V: a vector of length one."""
    weight: "Floats"
    """V: how much the word says, by the length of its vector."""
    plain: float
    """The share of words in ASCII."""
    sentence_lengths: "Floats"
    """S: the length of the sum of its words' vectors, by rarity."""
    window_lengths: "Floats"
    """W: the same."""


def lay_out(
    chunks: Sequence[Chunk], model: "StaticModel | None", *, window_tokens: int = WINDOW_TOKENS
) -> SentenceIndex:
    """The arrays of some chunks; without a model meanings are nought, and at no tokens each sentence is a window."""
    parts = tuple(_parts(chunks))
    sizes = np.array(
        [_tokens(chunks[one.chunk].text[one.start : one.end]) for one in parts], dtype=np.float32
    )
    numbers = _Numbers()
    uses: list[int] = []
    counts: list[int] = []
    for one in parts:
        before = len(uses)
        uses += numbers.of(chunks[one.chunk].text[one.start : one.end])
        counts.append(len(uses) - before)
    heads = _heads(chunks, numbers)
    vocabulary = numbers.vocabulary
    where = np.array([one.chunk for one in parts], dtype=np.intp)
    first = np.searchsorted(where, np.arange(len(chunks) + 1)).astype(np.intp)
    begin, end = _windows(sizes, first, window_tokens)
    used = np.array(uses, dtype=np.intp)
    counted = np.array(counts, dtype=np.intp)
    home = np.repeat(np.arange(len(parts), dtype=np.intp), counted)
    rarity = _rarity(used, home, len(vocabulary), len(parts))
    vectors = _vectors(numbers.words, model)
    lengths, spans = _lengths(vectors * rarity[:, None], used, counted, first, (begin, end))
    weight = _norms(vectors)
    meaning = (vectors / np.maximum(weight, 1e-6)[:, None]).astype(np.float16)
    prefixes: dict[str, int] = {}
    kin = [prefixes.setdefault(term[:PREFIX], len(prefixes)) for term in vocabulary]
    postings = np.argsort(used, kind="stable")
    return SentenceIndex(
        sentences=parts,
        sizes=sizes,
        counts=counted,
        first=first,
        begin=begin,
        end=end,
        chunk=where[begin],
        offset=np.array([one.start for one in chunks], dtype=np.intp)[where[begin]]
        + np.array([one.start for one in parts], dtype=np.intp)[begin],
        vocabulary=vocabulary,
        uses=used,
        home=home,
        postings=postings,
        bounds=np.searchsorted(used[postings], np.arange(len(vocabulary) + 1)),
        rarity=rarity,
        kin=np.array(kin, dtype=np.intp)[used],
        prefixes=prefixes,
        heads=heads,
        meaning=meaning,
        weight=weight,
        plain=sum(map(str.isascii, numbers.words)) / max(1, len(numbers.words)),
        sentence_lengths=lengths,
        window_lengths=spans,
    )


def inverse_frequency(places: "Ints", total: int) -> "Floats":
    """BM25's weight of a term that is in so many of so many places."""
    return np.asarray(np.log(1 + (total - places + 0.5) / (places + 0.5)), dtype=np.float32)


def _parts(chunks: Sequence[Chunk]) -> Iterator[Sentence]:
    """The sentences of all chunks, without the ends of those that the chunk before has whole."""
    url = ""
    before: list[tuple[int, int]] = []
    for number, chunk in enumerate(chunks):
        found = _sentences(number, chunk)
        base = chunk.end - len(chunk.text)
        here = [(base + one.start, base + one.end) for one in found]
        cut = (
            chunk.url == url
            and len(found) > 1
            and any(start < chunk.start < end and here[0][1] <= end for start, end in before)
        )
        url, before = chunk.url, here
        yield from found[1:] if cut else found


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
    """About how many tokens, so that a window holds as much in any script: the budget's count is by bytes."""
    if text.isascii():
        return len(text) / 4 + 0.25
    wide = sum(map(len, _WIDE.findall(text)))
    return wide * 0.75 + (len(text) - wide) / 3.5 + 0.25


class _Numbers(dict[str, tuple[int, ...]]):
    """Tokens → the numbers of their terms, given out as they come."""

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


def _heads(chunks: Sequence[Chunk], numbers: _Numbers) -> tuple["Ints", ...]:
    known: dict[tuple[str, ...], Ints] = {}
    for chunk in chunks:
        if chunk.section not in known:
            found = sorted(set(numbers.of("\n".join(chunk.section))))
            known[chunk.section] = np.array(found, dtype=np.intp)
    return tuple(known[chunk.section] for chunk in chunks)


def _windows(sizes: "Floats", first: "Ints", most: int) -> "tuple[Ints, Ints]":
    """From each sentence as far as the size allows; none that is but the end of the one before."""
    begins: list[int] = []
    ends: list[int] = []
    tokens = sizes.tolist()
    edges = first.tolist()
    for start, stop in pairwise(edges):
        right, total = start, 0.0
        for left in range(start, stop):
            while right < stop and (right == left or total + tokens[right] <= most):
                total += tokens[right]
                right += 1
            begins.append(left)
            ends.append(right)
            if right == stop:
                break
            total -= tokens[left]
    return np.array(begins, dtype=np.intp), np.array(ends, dtype=np.intp)


def _rarity(uses: "Ints", home: "Ints", terms: int, total: int) -> "Floats":
    pairs = np.unique(home * max(1, terms) + uses)
    return inverse_frequency(np.bincount(pairs % max(1, terms), minlength=terms), total)


def _vectors(words: Sequence[str], model: "StaticModel | None") -> "Floats":
    return np.zeros((len(words), 1), dtype=np.float32) if model is None else model.words(words)


def _lengths(
    vectors: "Floats",
    uses: "Ints",
    counts: "Ints",
    first: "Ints",
    windows: "tuple[Ints, Ints]",
) -> "tuple[Floats, Floats]":
    """How long the sums of the vectors of each sentence and of each window are; chunk by chunk, to stay small."""
    lengths = np.zeros(len(counts), dtype=np.float32)
    spans = np.zeros(len(windows[0]), dtype=np.float32)
    starts = np.concatenate(([0], np.cumsum(counts)))
    shelf = np.searchsorted(windows[0], first)
    for number, (low, high) in enumerate(zip(first[:-1].tolist(), first[1:].tolist(), strict=True)):
        here, place = np.unique(uses[starts[low] : starts[high]], return_inverse=True)
        if not len(here):
            continue
        row = np.repeat(np.arange(high - low), counts[low:high])
        table = np.bincount(row * len(here) + place, minlength=(high - low) * len(here))
        sums = table.reshape(high - low, len(here)).astype(np.float32) @ vectors[here]
        lengths[low:high] = _norms(sums)
        running = np.zeros((high - low + 1, sums.shape[1]), dtype=np.float32)
        np.cumsum(sums, axis=0, out=running[1:])
        own = slice(shelf[number], shelf[number + 1])
        spans[own] = _norms(running[windows[1][own] - low] - running[windows[0][own] - low])
    return lengths, spans


def _norms(rows: "Floats") -> "Floats":
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)), dtype=np.float32)
