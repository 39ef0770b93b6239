"""Question terms, features and scores of windows → one row: what tells whether a page answers.

The order of windows weighs a word by how rare it is on the page. Whether the page answers needs more: a word in every
sentence is the page's topic, although it separates no window from another. These columns weigh words by their own
specificity alone, so that "what" and "does" hardly count, wherever they are.
"""

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.candidate_features import CODE_KIND, TABLE_KIND
from kindly.read.ranking.passage_features import (
    Feature,
    QuestionTerms,
    content_of,
    running,
    specificity,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]


class PageFeature(IntEnum):
    """The columns after those of windows. BEST is of the window with the best score, MOST the best of all windows."""

    WINDOWS = 0
    """The logarithm of their number."""
    CONTENT = 1
    """How many words of the question have content."""
    COVERAGE_PAGE = 2
    COVERAGE_MOST = 3
    COVERAGE_BEST = 4
    SIMILARITY_PAGE = 5
    SIMILARITY_MOST = 6
    SIMILARITY_BEST = 7
    SIMILARITY_SENTENCE = 8
    """Of the best sentence."""
    LACKING_PAGE = 9
    """The word of the question that is farthest from all words of the page."""
    LACKING_BEST = 10
    LACKING_BEST_SECOND = 11
    NAMES_PAGE = 12
    """The share of names and numbers that are there."""
    NAMES_BEST = 13
    TOPIC = 14
    """The share of sentences that have the most frequent content word of the question."""
    COSINE_PAGE = 15
    COSINE_BEST = 16
    TABLE_PAGE = 17
    """The share of lines in tables; in code."""
    TABLE_BEST = 18
    CODE_PAGE = 19
    CODE_BEST = 20
    ASKS = 21
    """The number of what the question asks for."""


ALL_WINDOWS = tuple(feature for feature in Feature if feature < Feature.COVERAGE_PAGE)
"""Features that differ between windows: their maxima and means are columns, too."""
MANY_WORDS = 8
"""Content words from which a question counts as long."""


PAGE_FROM = len(Feature) + 2 * len(ALL_WINDOWS)
"""Where the page's features begin in a row."""


def answer_row(question: QuestionTerms, windows: "Floats", scores: "Floats") -> "Floats":
    """The best window's features, the maxima and means over all windows, and the features of the page."""
    best = int(np.argmax(scores))
    varying = windows[:, ALL_WINDOWS]
    columns = _page_features(question, best)
    page = [columns[feature] for feature in PageFeature]
    return np.concatenate(
        (windows[best], varying.max(axis=0), varying.mean(axis=0), page), dtype=np.float32
    )


def _page_features(question: QuestionTerms, best: int) -> dict[PageFeature, float]:
    content = content_of(question.specificity)
    windows = question.index.windows
    return {
        PageFeature.WINDOWS: math.log(len(windows)),
        PageFeature.CONTENT: float(content.sum()) / MANY_WORDS,
        **_coverage(question, content, best),
        **_similarity(question, content, best),
        **_cosines(question, content, best),
        **_kinds(question, best),
        PageFeature.ASKS: float(question.asks),
    }


def _kinds(question: QuestionTerms, best: int) -> dict[PageFeature, float]:
    windows, kinds = question.index.windows, question.index.sentences.kind
    here = kinds[windows.begin[best] : windows.end[best]]
    return {
        PageFeature.TABLE_PAGE: float((kinds == TABLE_KIND).mean()),
        PageFeature.TABLE_BEST: float((here == TABLE_KIND).mean()),
        PageFeature.CODE_PAGE: float((kinds == CODE_KIND).mean()),
        PageFeature.CODE_BEST: float((here == CODE_KIND).mean()),
    }


def _coverage(question: QuestionTerms, content: "Floats", best: int) -> dict[PageFeature, float]:
    known, windows = question.known, question.index.windows
    weights = content[known] / content.sum()
    total = running(question.uses)
    within = total[windows.end] - total[windows.begin] > 0
    share = (question.uses > 0).mean(axis=0)
    names = question.names
    here = np.zeros(len(names), dtype=bool)
    here[known[within[best]]] = True
    return {
        PageFeature.COVERAGE_PAGE: float(weights.sum()),
        PageFeature.COVERAGE_MOST: float((within @ weights).max()),
        PageFeature.COVERAGE_BEST: float(within[best] @ weights),
        PageFeature.TOPIC: float((content[known] * share).max(initial=0)),
        PageFeature.NAMES_PAGE: float((question.numbers[names] >= 0).mean()) if names.any() else 1,
        PageFeature.NAMES_BEST: float(here[names].mean()) if names.any() else 1,
    }


def _similarity(question: QuestionTerms, content: "Floats", best: int) -> dict[PageFeature, float]:
    weights = content / content.sum()
    page = question.closest.max(axis=1)
    here = question.closest_in_windows[:, best]
    lacking = np.sort(np.append(content * (1 - here), 0))
    return {
        PageFeature.SIMILARITY_PAGE: float(weights @ page),
        PageFeature.SIMILARITY_MOST: float((weights @ question.closest_in_windows).max()),
        PageFeature.SIMILARITY_BEST: float(weights @ here),
        PageFeature.SIMILARITY_SENTENCE: float((weights @ question.closest).max()),
        PageFeature.LACKING_PAGE: float((content * (1 - page)).max()),
        PageFeature.LACKING_BEST: float(lacking[-1]),
        PageFeature.LACKING_BEST_SECOND: float(lacking[-2]),
    }


def _cosines(question: QuestionTerms, content: "Floats", best: int) -> dict[PageFeature, float]:
    """Of the question's content words with those of the page, and of the best window."""
    index, rows = question.index, question.token_rows
    lengths, postings = index.vectors.lengths, index.postings
    weights = lengths * content_of(specificity(lengths))
    counts = np.bincount(postings.terms, minlength=len(lengths))
    edges = (index.windows.begin[best], index.windows.end[best])
    here = np.zeros(len(lengths), dtype=np.float32)
    here[postings.terms[slice(*np.searchsorted(postings.sentences, edges))]] = 1
    vector = content @ question.vectors
    return {
        PageFeature.COSINE_PAGE: _cosine(
            vector, index.vectors.total(rows, weights * np.log1p(counts))
        ),
        PageFeature.COSINE_BEST: _cosine(vector, index.vectors.total(rows, weights * here)),
    }


def _cosine(one: "Floats", other: "Floats") -> float:
    return float(one @ other) / max(1e-6, float(np.linalg.norm(one) * np.linalg.norm(other)))
