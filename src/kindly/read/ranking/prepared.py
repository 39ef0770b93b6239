"""Chunks → what ranking needs of each, as arrays that do not depend on the question or on other chunks, and as bytes.

`prepare` is a pure function of a chunk's text and headings; stores keep its bytes beside the chunk. An index of many
chunks joins the arrays, which takes a tenth of the time of cutting the text into sentences and terms again. Terms are
64-bit keys, so that the terms of different chunks can be compared without their text.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args
from zlib import crc32

import numpy as np

from kindly.frozen import frozen
from kindly.models import Chunk
from kindly.read.ranking.segment import Kind, blocks, sentences
from kindly.read.ranking.sentence_marks import sentence_marks
from kindly.text.page_marks import headings_of
from kindly.text.terms import term_words, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.static_model import StaticModel

    Array = NDArray[Any]

VERSION = 2
"""Of the bytes and of what is in them: segmentation, terms and tokens. Bytes of another version are not used."""
WINDOW_TOKENS = 240
PREFIX = 4
"""First letters by which different terms count as related."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_HEAD = struct.Struct("<BBxxIIIIII")
_MAX_SHORT = 0xFFFF
_WIDE = re.compile("[\u2e80-\ud7af\uf900-\ufaff\uff00-\uffef]+")
"""Chinese, Japanese and Korean: about one token per character."""
_THREE_BYTES = re.compile("[\u0800-\uffff]+")
_ONE, _TWO, _THREE = 0.25, 0.4, 0.65
"""Tokens of a character of so many bytes, as tokenizers count on average."""
_MAX_BYTE = 0xFF


@frozen
class Prepared:
    """One chunk: `S` sentences, `W` windows, `T` occurrences of `V` terms, and `H` terms of its headings."""

    keys: "Array"
    """V + H: the keys of terms in order of first use, then of the headings' terms."""
    sizes: "Array"
    """S: tokens of a sentence."""
    starts: "Array"
    """S: offsets into the chunk's text."""
    ends: "Array"
    counts: "Array"
    """S: how many terms it has."""
    window_ends: "Array"
    """W: one past the last sentence of the window that starts at each sentence."""
    terms: "Array"
    """T: which of the terms."""
    frequencies: "Array"
    """V: how many sentences have the term."""
    pieces: "Array"
    """V + H: how many of `tokens` the term's first word has; all zero without a model."""
    tokens: "Array"
    """The static model's tokens of the words."""
    kinds: "Array"
    """S: the number of the kind in `KINDS`."""
    ascii: "Array"
    """V + H: whether the word is in ASCII."""
    marks: "Array"
    """S: its `sentence_marks.SentenceMark`s."""
    capitals: "Array"
    """S: words that begin with a capital, after the first."""
    numbers: "Array"
    """S: words that begin with a digit."""

    def without_first(self) -> "Prepared":
        """The chunk without its first sentence."""
        gone = int(self.counts[0])
        kept, terms = np.unique(self.terms[gone:], return_inverse=True)
        rest = np.arange(len(self.frequencies), len(self.keys))
        own = np.concatenate((kept, rest)).astype(np.intp)
        edges = np.concatenate(([0], np.cumsum(self.pieces, dtype=np.intp)))
        tokens = [self.tokens[edges[one] : edges[one + 1]] for one in own.tolist()]
        counts = self.counts[1:]
        ends = self.window_ends
        return replace(
            self,
            keys=self.keys[own],
            sizes=self.sizes[1:],
            starts=self.starts[1:],
            ends=self.ends[1:],
            counts=counts,
            window_ends=(ends[1:] if len(ends) > 1 else ends) - 1,
            terms=terms,
            frequencies=_frequencies(terms, counts, len(kept)),
            pieces=self.pieces[own],
            tokens=np.concatenate(tokens) if tokens else self.tokens[:0],
            kinds=self.kinds[1:],
            ascii=self.ascii[own],
            marks=self.marks[1:],
            capitals=self.capitals[1:],
            numbers=self.numbers[1:],
        )


_COLUMNS = (
    ("keys", np.uint64),
    ("sizes", np.float32),
    ("starts", np.uint32),
    ("ends", np.uint32),
    ("counts", np.uint16),
    ("window_ends", np.uint16),
    ("terms", np.uint16),
    ("frequencies", np.uint16),
    ("pieces", np.uint16),
    ("tokens", np.uint16),
    ("marks", np.uint16),
    ("kinds", np.uint8),
    ("ascii", np.uint8),
    ("capitals", np.uint8),
    ("numbers", np.uint8),
)
"""In the order of the bytes: the widest first, so that all are aligned."""


def prepare(chunks: Sequence[Chunk], model: "StaticModel | None") -> list[Prepared]:
    """What ranking needs of each chunk; those of one page together, because they share words."""
    words = _Words()
    found = [_cut(chunk, words) for chunk in chunks]
    columns = words.columns(model)
    return [_prepared(one, columns) for one in found]


def with_prepared(chunks: Sequence[Chunk], model: "StaticModel | None") -> tuple[Chunk, ...]:
    """The chunks, with the bytes of what ranking needs where they are missing. Unchanged without a model."""
    if model is None:
        return tuple(chunks)
    missing = [chunk for chunk in chunks if chunk.prepared is None]
    new = iter(prepare(missing, model))
    return tuple(
        chunk if chunk.prepared is not None else replace(chunk, prepared=to_bytes(next(new)))
        for chunk in chunks
    )


def prepared_chunks(chunks: Sequence[Chunk], model: "StaticModel | None") -> list[Prepared]:
    """What ranking needs of each chunk, from its bytes if there are any of this version."""
    found = [from_bytes(chunk.prepared) if chunk.prepared else None for chunk in chunks]
    missing = [chunk for chunk, one in zip(chunks, found, strict=True) if one is None]
    new = iter(prepare(missing, model) if missing else ())
    return [one or next(new) for one in found]


def to_bytes(prepared: Prepared) -> bytes | None:
    """The bytes of a prepared chunk; None if a number is too large for its column."""
    shorts = (prepared.counts, prepared.window_ends, prepared.frequencies, prepared.pieces)
    largest = max(int(one.max(initial=0)) for one in (*shorts, prepared.tokens))
    if max(largest, len(prepared.keys)) > _MAX_SHORT:
        return None
    head = _HEAD.pack(
        VERSION,
        0,
        len(prepared.sizes),
        len(prepared.window_ends),
        len(prepared.terms),
        len(prepared.frequencies),
        len(prepared.keys),
        len(prepared.tokens),
    )
    columns = (getattr(prepared, name).astype(kind).tobytes() for name, kind in _COLUMNS)
    return head + b"".join(columns)


def from_bytes(held: bytes) -> Prepared | None:
    """The prepared chunk; None if the bytes are another version's or damaged."""
    if len(held) < _HEAD.size:
        return None
    version, _, sentence, window, occurrence, term, key, token = _HEAD.unpack_from(held)
    if version != VERSION:
        return None
    lengths = (
        key,
        sentence,
        sentence,
        sentence,
        sentence,
        window,
        occurrence,
        term,
        key,
        token,
        sentence,
        sentence,
        key,
        sentence,
        sentence,
    )
    if len(held) != _HEAD.size + sum(map(int.__mul__, lengths, _WIDTHS)):
        return None
    at, columns = _HEAD.size, []
    for length, kind, width in zip(lengths, _KINDS, _WIDTHS, strict=True):
        columns.append(np.frombuffer(held, kind, length, at))
        at += length * width
    names = (name for name, _ in _COLUMNS)
    return Prepared(**dict(zip(names, columns, strict=True)))


_KINDS = tuple(np.dtype(kind) for _, kind in _COLUMNS)
_WIDTHS = tuple(kind.itemsize for kind in _KINDS)


@lru_cache(maxsize=50_000)
def term_key(term: str) -> int:
    """A number for a term: a hash of its first letters above a hash of the whole."""
    return prefix_key(term) << 32 | crc32(term.encode("utf-8", "surrogatepass"))


def prefix_key(term: str) -> int:
    """A hash of the first letters of a term."""
    return crc32(term[:PREFIX].encode("utf-8", "surrogatepass"))


def window_ends(sizes: Sequence[float], max_tokens: int) -> list[int]:
    """From each sentence as far as the size allows; none that is only the end of the one before."""
    ends: list[int] = []
    right, total, stop = 0, 0.0, len(sizes)
    for left in range(stop):
        while right < stop and (right == left or total + sizes[right] <= max_tokens):
            total += sizes[right]
            right += 1
        ends.append(right)
        if right == stop:
            break
        total -= sizes[left]
    return ends


class _Words(dict[str, tuple[int, ...]]):
    """Tokens of a text → the numbers of their words. A word is a term with one of the spellings that it comes from."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, found: Sequence[str]) -> list[int]:
        """The numbers of the words of some tokens."""
        return list(chain.from_iterable(map(self.__getitem__, found)))

    def columns(self, model: "StaticModel | None") -> "_WordColumns":
        """What is known of each word."""
        words = [word for _, word in self._numbers]
        return _WordColumns(
            keys=np.fromiter((term_key(term) for term, _ in self._numbers), np.uint64),
            tokens=[()] * len(words) if model is None else model.word_tokens(words),
            ascii=np.fromiter(map(str.isascii, words), np.uint8),
        )

    def __missing__(self, token: str) -> tuple[int, ...]:
        numbers = self._numbers
        found = self[token] = tuple(
            [numbers.setdefault(pair, len(numbers)) for pair in term_words(token)]
        )
        return found


@frozen
class _WordColumns:
    """Of each word: the key of its term, its tokens, and whether it is in ASCII."""

    keys: "Array"
    tokens: Sequence[tuple[int, ...]]
    ascii: "Array"


@frozen
class _Cut:
    """A chunk in sentences and words."""

    spans: list[tuple[int, int, Kind]]
    sizes: list[float]
    words: list[int]
    counts: list[int]
    """How many words each sentence has."""
    headings: list[int]
    """The words of the headings."""
    marks: list[tuple[int, int, int]]
    """Of each sentence, as `sentence_marks` gives them."""


def _cut(chunk: Chunk, words: _Words) -> _Cut:
    spans = list(_sentences(chunk.text))
    texts = [chunk.text[start:end] for start, end, _ in spans]
    split = [tokens(text) for text in texts]
    each = [words.of(one) for one in split]
    found = list(chain.from_iterable(each))
    counts = list(map(len, each))
    headings = words.of(tokens("\n".join(headings_of(chunk.section))))
    marks = [sentence_marks(text, one) for text, one in zip(texts, split, strict=True)]
    return _Cut(spans, [_tokens(text) for text in texts], found, counts, headings, marks)


def _prepared(cut: _Cut, columns: _WordColumns) -> Prepared:
    own, terms = _numbered(columns.keys, cut.words)
    of_headings, _ = _numbered(columns.keys, cut.headings)
    both = np.array(own + of_headings, dtype=np.intp)
    tokens_of = [columns.tokens[word] for word in both.tolist()]
    counts = np.array(cut.counts, dtype=np.intp)
    marks = np.array(cut.marks, dtype=np.intp).reshape(-1, 3)
    return Prepared(
        keys=columns.keys[both],
        sizes=np.array(cut.sizes, dtype=np.float32),
        starts=np.array([start for start, _, _ in cut.spans], dtype=np.uint32),
        ends=np.array([end for _, end, _ in cut.spans], dtype=np.uint32),
        counts=counts,
        window_ends=np.array(window_ends(cut.sizes, WINDOW_TOKENS), dtype=np.intp),
        terms=terms,
        frequencies=_frequencies(terms, counts, len(own)),
        pieces=np.array([len(one) for one in tokens_of], dtype=np.intp),
        tokens=np.fromiter(chain.from_iterable(tokens_of), np.intp),
        kinds=np.array([KINDS.index(kind) for _, _, kind in cut.spans], dtype=np.uint8),
        ascii=columns.ascii[both],
        marks=marks[:, 0],
        capitals=np.minimum(marks[:, 1], _MAX_BYTE),
        numbers=np.minimum(marks[:, 2], _MAX_BYTE),
    )


def _numbered(keys: "Array", words: list[int]) -> "tuple[list[int], Array]":
    """The first word of each term in order of first use, and the place in that list of each word's term."""
    of_words = keys[words].tolist() if words else []
    first = dict(zip(reversed(of_words), reversed(words), strict=True))
    places = {key: place for place, key in enumerate(dict.fromkeys(of_words))}
    terms = np.fromiter(map(places.__getitem__, of_words), np.intp, len(of_words))
    return list(map(first.__getitem__, places)), terms


def _frequencies(terms: "Array", counts: "Array", vocabulary: int) -> "Array":
    """How many sentences have each term."""
    sentence = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(sentence * max(1, vocabulary) + terms)
    return np.bincount(pairs % max(1, vocabulary), minlength=vocabulary)


def _sentences(text: str) -> Iterator[tuple[int, int, Kind]]:
    for block in blocks(text):
        if block.kind == "prose":
            spans = sentences(text, block.start, block.end)
        elif block.kind == "heading":
            spans = [(block.start, block.end)]
        else:
            spans = _lines(text, block.start, block.end)
        for start, end in spans:
            yield start, end, block.kind


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
    """An estimate that counts every script alike, by the bytes of its characters."""
    if text.isascii():
        return len(text) * _ONE + 0.25
    three = sum(map(len, _THREE_BYTES.findall(text)))
    wide = sum(map(len, _WIDE.findall(text)))
    two = len(text.encode("utf-8", "surrogatepass")) - len(text) - 2 * three
    rest = max(0, len(text) - two - three)
    return _ONE * rest + _TWO * two + _THREE * (three - wide) + wide + 0.25
