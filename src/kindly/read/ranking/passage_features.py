"""Sentence index + question → one row of features per window: BM25, coverage, proximity, word and vector similarity.

Every feature is about 0 to 1 and means the same on any page, so that one set of weights and one threshold fit all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.prepared import PREFIX
from kindly.read.ranking.sentence_index import SentenceIndex, inverse_frequency
from kindly.read.ranking.sentence_marks import Asks, asks_for, asks_for_extreme
from kindly.text.terms import runs_together, term_words, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.static_model import StaticModel

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]


class Feature(IntEnum):
    """The columns. Their order is that of the weights in `ranker.json`.

    A name that ends in SENTENCE is the best of the sentences. COVERAGE_PAGE and later are equal for all windows.
    """

    BM25 = 0
    BM25_SENTENCE = 1
    COVERAGE = 2
    COVERAGE_SENTENCE = 3
    COVERAGE_HEADINGS = 4
    PROXIMITY_SENTENCE = 5
    BM25_CHUNK = 6
    BM25_TWO_SENTENCES = 7
    LEAD_SENTENCE = 8
    SIMILARITY = 9
    SIMILARITY_SENTENCE = 10
    COSINE = 11
    COSINE_SENTENCE = 12
    PREFIX_BM25 = 13
    PREFIX_BM25_SENTENCE = 14
    SIMILARITY_HEADINGS = 15
    EARLINESS = 16
    COVERAGE_PAGE = 17
    MISSING_WEIGHT = 18
    QUESTION_LENGTH = 19
    LATIN = 20
    UNSPACED = 21
    ENGLISH = 22


Columns = dict[Feature, "Floats"]

K1, B = 1.2, 0.75
"""BM25's term saturation and length normalisation."""
SPECIFIC_LENGTH = 12.0
"""The norm of a word's vector from which it counts in full; "the" has 2, "agreement" 16."""
NEAR_WORDS = 3
LEAD_WORDS = 6
"""Words at the beginning of a sentence, which most often say what it is about."""
ASCII_POWER = 8
"""Of the share of ASCII words: nearly all in English, nine of ten in Spanish or German."""
EARLY = 2000
"""Characters from the beginning of a page after which a window counts as half as early as the first."""
LONG_QUESTION = 24
"""Terms from which a question counts as long."""
CONTENT_FROM = 0.625
"""The specificity from which a word has content: above "what" and "which"."""
LEAST_CONTENT = 0.02
MIN_SENTENCE = 8.0
"""Lower bound of the average sentence length, in words."""


@dataclass(frozen=True)
class QuestionTerms:
    """A question in the numbers of an index."""

    index: SentenceIndex
    terms: tuple[str, ...]
    """Each once."""
    sequence: "Ints"
    """All terms of the question in order; -1 if the index has no such term."""
    numbers: "Ints"
    """Of `terms`; -1 if the index has no such term."""
    vectors: "Floats"
    specificity: "Floats"
    """How specific each word is, up to 1."""
    names: "NDArray[np.bool_]"
    """Which terms are of a number, or of a word in capitals after the first."""
    asks: Asks = Asks.OTHER
    asks_extreme: bool = False
    """Whether it asks for what is first, most or the like."""

    @cached_property
    def known(self) -> "Ints":
        """Positions in `terms` of those that the index has."""
        return np.flatnonzero(self.numbers >= 0)

    @cached_property
    def idf(self) -> "Floats":
        unseen = inverse_frequency(np.zeros(1, dtype=np.intp), len(self.index.sentences))
        return np.asarray(np.append(self.index.postings.idf, unseen)[self.numbers])

    @cached_property
    def weights(self) -> "Floats":
        """IDF times specificity, normalised to a sum of one."""
        weights = self.idf * self.specificity
        return np.asarray(weights / max(1e-6, float(weights.sum())))

    @cached_property
    def token_rows(self) -> "Floats":
        """The vectors of the tokens that the index's words consist of."""
        return self.index.vectors.rows()

    @cached_property
    def products(self) -> "Floats":
        """Terms × vocabulary: the terms' vectors times the words' vectors of length one."""
        return self.index.vectors.products(self.token_rows, self.vectors)

    @cached_property
    def similarity(self) -> "Floats":
        """Terms × vocabulary: the squared cosine of the words; 1 for the same term."""
        lengths = np.maximum(np.linalg.norm(self.vectors, axis=1), 1e-6)
        found = np.maximum(self.products / lengths[:, None], 0) ** 2
        found[self.known, self.numbers[self.known]] = 1
        return np.asarray(found)

    @cached_property
    def uses(self) -> "Floats":
        """Sentences × `known`: how often each has the term."""
        postings, total, width = self.index.postings, len(self.index.sentences), len(self.known)
        columns = np.full(len(postings), -1, dtype=np.intp)
        columns[self.numbers[self.known]] = np.arange(width)
        column = columns[postings.terms]
        used = np.flatnonzero(column >= 0)
        places = postings.sentences[used] * width + column[used]
        counts = np.bincount(places, minlength=total * width)
        return counts.reshape(total, width).astype(np.float32)

    @cached_property
    def closest(self) -> "Floats":
        """Terms × sentences: the similarity of the most similar word there. One empty column follows the last."""
        counts = self.index.sentences.term_counts
        found = np.zeros((len(self.terms), len(counts) + 1), dtype=np.float32)
        filled = np.flatnonzero(counts)
        if len(filled):
            starts = running(counts)[filled].astype(np.intp)
            occurrences = self.similarity[:, self.index.postings.terms]
            found[:, filled] = np.maximum.reduceat(occurrences, starts, axis=1)
        return found

    @cached_property
    def headings_closest(self) -> "Floats":
        """Terms × chunks: the similarity of the most similar word in the headings above the chunk."""
        headings = self.index.headings
        found = np.zeros((len(self.terms), len(headings.bounds) - 1), dtype=np.float32)
        filled = np.flatnonzero(np.diff(headings.bounds))
        if len(filled):
            alike = self.similarity[:, headings.terms]
            found[:, filled] = np.maximum.reduceat(alike, headings.bounds[filled], axis=1)
        return found

    @cached_property
    def closest_in_windows(self) -> "Floats":
        """Terms × windows: the similarity of the most similar word there."""
        return np.asarray(np.maximum.reduceat(self.closest, _edges(self.index), axis=1)[:, ::2])


def question_terms(
    question: str, index: SentenceIndex, model: "StaticModel | None"
) -> QuestionTerms:
    """The question's terms in an index that was built with the same model."""
    found = tokens(question)
    pairs = [pair for token in found for pair in term_words(token)]
    words = dict(reversed(pairs))
    terms = tuple(dict.fromkeys(term for term, _ in pairs))
    names = {
        term
        for place, token in enumerate(found)
        if token[0].isdigit() or (place and token[0].isupper())
        for term, _ in term_words(token)
    }
    if model is None:
        vectors = np.zeros((len(terms), 1), dtype=np.float32)
        specific = np.ones(len(terms), dtype=np.float32)
    else:
        vectors = model.words([words[term] for term in terms])
        specific = specificity(np.linalg.norm(vectors, axis=1))
    numbers = {term: index.postings.number(term) for term in terms}
    return QuestionTerms(
        index=index,
        terms=terms,
        sequence=np.array([numbers[term] for term, _ in pairs], dtype=np.intp),
        numbers=np.array([numbers[term] for term in terms], dtype=np.intp),
        vectors=vectors,
        specificity=np.asarray(specific, dtype=np.float32),
        names=np.array([term in names for term in terms], dtype=bool),
        asks=asks_for(question),
        asks_extreme=asks_for_extreme(question),
    )


def specificity(lengths: "Floats") -> "Floats":
    """How specific words are, up to 1, from the norms of their vectors."""
    return np.asarray(np.minimum(1, lengths / SPECIFIC_LENGTH))


def content_of(specific: "Floats") -> "Floats":
    """How much content each word has, from its specificity."""
    return np.asarray(np.clip((specific - CONTENT_FROM) / (1 - CONTENT_FROM), LEAST_CONTENT, 1))


def features(question: QuestionTerms) -> "Floats":
    """Windows × `Feature`."""
    windows = question.index.windows
    matrix = np.zeros((len(windows), len(Feature)), dtype=np.float32)
    if len(question.terms) and len(windows):
        columns = {
            **_lexical(question),
            **_similarity(question),
            **_cosine(question),
            **_prefix_bm25(question),
            Feature.SIMILARITY_HEADINGS: (question.weights @ question.headings_closest)[
                windows.chunk
            ],
            Feature.EARLINESS: EARLY / (EARLY + windows.offset),
            **_page_coverage(question),
            **_scripts(question),
        }
        for feature, column in columns.items():
            matrix[:, feature] = column
    return matrix


def _lexical(question: QuestionTerms) -> Columns:
    index, known = question.index, question.known
    sentences, windows, postings = index.sentences, index.windows, index.postings
    weights = question.weights[known]
    uses = question.uses
    lead = np.zeros(len(uses), dtype=np.float32)
    words = running(sentences.term_counts)
    for column, number in enumerate(question.numbers[known]):
        occurrences = postings.of(number)
        where = postings.sentences[occurrences]
        lead[where[occurrences - words[where] < LEAD_WORDS]] += weights[column]
    total = running(uses)
    here = np.arange(len(uses))
    after = np.minimum(here + 2, len(uses))
    two = bm25(total[after] - total[here], words[after] - words[here], weights)
    starts, ends = sentences.chunk_bounds[:-1], sentences.chunk_bounds[1:]
    chunks = bm25(total[ends] - total[starts], words[ends] - words[starts], weights)
    within = total[windows.end] - total[windows.begin]
    headings = _in_headings(question) @ weights
    return {
        Feature.BM25: bm25(within, words[windows.end] - words[windows.begin], weights),
        Feature.BM25_SENTENCE: _best(
            index, bm25(uses, sentences.term_counts, weights, least=MIN_SENTENCE)
        ),
        Feature.COVERAGE: (within > 0) @ weights,
        Feature.COVERAGE_SENTENCE: _best(index, (uses > 0) @ weights),
        Feature.COVERAGE_HEADINGS: headings[windows.chunk],
        Feature.PROXIMITY_SENTENCE: _best(index, _proximity(question)),
        Feature.BM25_CHUNK: chunks[windows.chunk],
        Feature.BM25_TWO_SENTENCES: _best(index, two),
        Feature.LEAD_SENTENCE: _best(index, lead),
    }


def bm25(
    uses: "Floats", words: "Floats | Ints", weights: "Floats", *, least: float = 1.0
) -> "Floats":
    """The BM25 score of each row, from the uses of each term, the number of words, and the terms' weights."""
    average = max(least, float(words.mean()) if len(words) else 0)
    damp = K1 * (1 - B + B * words / average)
    return np.asarray((uses * (K1 + 1) / (uses + damp[:, None])) @ weights, dtype=np.float32)


def _proximity(question: QuestionTerms) -> "Floats":
    """For each sentence, the weight of adjacent words of the question that are also close to each other in it."""
    score = np.zeros(len(question.index.sentences), dtype=np.float32)
    for weight, near in pair_weights(question):
        score[near] += weight
    return score


def pair_weights(question: QuestionTerms) -> "Iterator[tuple[float, Ints]]":
    """Adjacent words of the question: the smaller weight of the two, and the sentences where they are close."""
    postings = question.index.postings
    weight = dict(zip(question.numbers.tolist(), question.weights.tolist(), strict=True))
    for one, other in pairwise(question.sequence.tolist()):
        if one < 0 or other < 0 or one == other:
            continue
        left, right = postings.of(one), postings.of(other)
        following = np.append(right, len(postings.terms) + NEAR_WORDS + 1)
        gap = following[np.searchsorted(right, left, side="right")] - left
        near = np.unique(postings.sentences[left[gap <= NEAR_WORDS]])
        yield min(weight[one], weight[other]), near


def _similarity(question: QuestionTerms) -> Columns:
    """How similar the most similar word is to each word of the question: in the window, in its best sentence."""
    return {
        Feature.SIMILARITY: question.weights @ question.closest_in_windows,
        Feature.SIMILARITY_SENTENCE: _best(
            question.index, question.weights @ question.closest[:, :-1]
        ),
    }


def _cosine(question: QuestionTerms) -> Columns:
    """The cosine of the question's vector with that of the window, and of its best sentence."""
    index = question.index
    sentences, windows, postings = index.sentences, index.windows, index.postings
    vector = question.idf @ question.vectors
    shares = question.idf / max(1e-6, float(np.linalg.norm(vector)))
    of_terms = postings.idf * index.vectors.lengths * (shares @ question.products)
    sums = np.bincount(
        postings.sentences, weights=of_terms[postings.terms], minlength=len(sentences)
    )
    total = running(sums)
    within = total[windows.end] - total[windows.begin]
    return {
        Feature.COSINE: within / np.maximum(windows.vector_lengths, 1e-6),
        Feature.COSINE_SENTENCE: _best(index, sums / np.maximum(sentences.vector_lengths, 1e-6)),
    }


def _prefix_bm25(question: QuestionTerms) -> Columns:
    """BM25 over the first letters of words."""
    index = question.index
    sentences, windows, postings = index.sentences, index.windows, index.postings
    specificity: dict[str, float] = {}
    for term, value in zip(question.terms, question.specificity.tolist(), strict=True):
        specificity[term[:PREFIX]] = max(value, specificity.get(term[:PREFIX], 0.0))
    occurrences = [postings.of_prefix(prefix) for prefix in specificity]
    uses = np.zeros((len(sentences), len(specificity)), dtype=np.float32)
    for column, of_prefix in enumerate(occurrences):
        uses[:, column] = np.bincount(postings.sentences[of_prefix], minlength=len(uses))
    idf = inverse_frequency((uses > 0).sum(axis=0), len(uses))
    weights = idf * np.array(list(specificity.values()), dtype=np.float32)
    total = float(weights.sum())
    weights = np.asarray(weights / max(1e-6, total), dtype=np.float32)
    total_uses = running(uses)
    words = running(sentences.term_counts)
    within = total_uses[windows.end] - total_uses[windows.begin]
    return {
        Feature.PREFIX_BM25: bm25(within, words[windows.end] - words[windows.begin], weights),
        Feature.PREFIX_BM25_SENTENCE: _best(
            index, bm25(uses, sentences.term_counts, weights, least=MIN_SENTENCE)
        ),
    }


def _in_headings(question: QuestionTerms) -> "NDArray[np.bool_]":
    """Chunks × `known`: whether the headings above the chunk have the term."""
    headings = question.index.headings
    chunk = np.repeat(np.arange(len(headings.bounds) - 1), np.diff(headings.bounds))
    found = np.zeros((len(headings.bounds) - 1, len(question.known)), dtype=bool)
    for column, number in enumerate(question.numbers[question.known]):
        found[chunk[headings.terms == number], column] = True
    return found


def _page_coverage(question: QuestionTerms) -> Columns:
    """The share of the question that the page has, the largest weight of a missing word, and the question's length."""
    missing = question.weights[question.numbers < 0]
    return {
        Feature.COVERAGE_PAGE: np.full(1, float(question.weights[question.known].sum())),
        Feature.MISSING_WEIGHT: np.full(1, float(missing.max(initial=0))),
        Feature.QUESTION_LENGTH: np.full(1, min(1.0, len(question.terms) / LONG_QUESTION)),
    }


def _scripts(question: QuestionTerms) -> Columns:
    """The share of the question in ASCII and in scripts without spaces, and how likely the page is English.

    Chance matches are more common in some scripts; these columns let weights and threshold adjust.
    """
    terms = question.terms
    return {
        Feature.LATIN: np.full(1, sum(term.isascii() for term in terms) / len(terms)),
        Feature.UNSPACED: np.full(1, sum(runs_together(term) for term in terms) / len(terms)),
        Feature.ENGLISH: np.full(1, question.index.ascii_share**ASCII_POWER),
    }


def running(values: "Floats | Ints") -> "NDArray[np.float64]":
    """Cumulative sums along the first axis, starting with zero."""
    start = np.zeros((1, *values.shape[1:]))
    return np.concatenate((start, np.cumsum(values, axis=0, dtype=np.float64)))


def _edges(index: SentenceIndex) -> "Ints":
    return np.stack((index.windows.begin, index.windows.end), axis=1).ravel()


def _best(index: SentenceIndex, sentences: "Floats") -> "Floats":
    """The best sentence of each window."""
    padded = np.append(sentences, np.float32(-1e9))
    return np.asarray(np.maximum.reduceat(padded, _edges(index))[::2])
