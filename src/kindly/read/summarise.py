"""Extractive summary: text → its key sentences, unchanged and in order, within a number of characters.

With a question, those that answer it; without one, those that share most with all others.
"""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.chunk import split
from kindly.read.ranking import ranker_model
from kindly.read.ranking.passage_features import features, question_terms
from kindly.read.ranking.rank import local_model
from kindly.read.ranking.sentence_index import SentenceIndex, build_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kindly.models import Chunk

    Floats = NDArray[np.floating[Any]]

MAX_TEXT = 60_000
"""Characters that are used; of a longer text, its beginning."""
LEAD_BONUS = 0.15
"""For the first sentence, because a page most often makes its point there."""
MIN_CHARACTERS = 40
DUPLICATE = 0.6
"""The share of the shorter sentence's words from which it adds nothing."""
ANSWER_WEIGHT = 2.0
"""Of answering the question, beside being central to the text."""
ELLIPSIS = "…"

_MARK = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]*\)|\]\([^)\n]*\)|\[(?=[^\]\n]*\]\()|[*`]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)"
)
_LEADING = re.compile(r"^\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?")


def summarise(text: str, *, limit: int = 500, question: str | None = None) -> str:
    """At most `limit` characters of the text's own sentences; empty if it has none."""
    chunks = split(text[:MAX_TEXT], "")
    model = local_model()
    index = build_index(chunks, model, window_tokens=0)
    if not len(index.windows):
        return ""
    scores = _centrality(index)
    if question is not None and (terms := question_terms(question, index, model)).terms:
        answers = ranker_model.load().scores(features(terms))
        scores = scores + ANSWER_WEIGHT * _normalised(answers)
    order = np.argsort(-scores, kind="stable").tolist()
    return _joined(_chosen(chunks, index, order, limit), limit)


def _chosen(
    chunks: "Sequence[Chunk]", index: SentenceIndex, order: list[int], limit: int
) -> dict[int, str]:
    """The best sentences that fit and do not repeat each other, by their number in the text."""
    chosen: dict[int, str] = {}
    chosen_words: list[set[str]] = []
    remaining = limit
    for number in order:
        one = index.sentences.spans[number]
        sentence = _plain(chunks[one.chunk].text[one.start : one.end])
        words = set(sentence.lower().split())
        if (
            one.kind != "prose"
            or len(sentence) < MIN_CHARACTERS
            or any(_is_duplicate(words, other) for other in chosen_words)
        ):
            continue
        if len(sentence) <= remaining:
            chosen[number] = sentence
            chosen_words.append(words)
            remaining -= len(sentence) + 1
    if not chosen and order:
        longest = max(index.sentences.spans, key=lambda one: one.end - one.start)
        chosen[0] = _plain(chunks[longest.chunk].text[longest.start : longest.end])
    return chosen


def _joined(chosen: dict[int, str], limit: int) -> str:
    text = " ".join(chosen[number] for number in sorted(chosen))
    return (
        text
        if len(text) <= limit
        else text[: max(0, limit - 1)].rstrip() + ELLIPSIS[: max(0, limit)]
    )


def _is_duplicate(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= DUPLICATE * min(len(one), len(other))


def _plain(sentence: str) -> str:
    return " ".join(_LEADING.sub("", _MARK.sub("", sentence), count=1).split())


def _normalised(scores: "Floats") -> "Floats":
    """Scaled to the range 0 to 1."""
    low, high = float(scores.min()), float(scores.max())
    return np.asarray((scores - low) / max(1e-6, high - low))


def _centrality(index: SentenceIndex) -> "Floats":
    """For each sentence, how frequent its words are in the text, with a bonus for the beginning."""
    postings, counts = index.postings, index.sentences.term_counts
    frequency = np.bincount(postings.terms, minlength=len(postings)).astype(np.float32)
    lengths = index.vectors.lengths
    specificity = np.minimum(1, lengths / max(1e-6, float(lengths.max(initial=0))))
    weight = np.log1p(frequency) * np.where(specificity > 0, specificity, 1)
    sums = np.bincount(postings.sentences, weights=weight[postings.terms], minlength=len(counts))
    score = sums / np.maximum(counts, 8)
    position = np.arange(len(score)) / max(1, len(score))
    return np.asarray(score / max(1e-6, float(score.max())) + LEAD_BONUS * (1 - position) ** 4)
