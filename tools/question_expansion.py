"""Questions with the windows that answer them → the weights of `kindly.read.ranking.expansion_model`.

A softmax over a question's candidates: the cosine with the expanded question, beside the score of the first stage,
should single out those with evidence. The same rows give the same weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.expansion_model import Expansion
from kindly.read.ranking.passage_features import running
from kindly.read.ranking.rerank_model import CANDIDATES
from kindly.read.ranking.sentence_index import SentenceIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

HIDDEN = 32
EPOCHS = 8
BATCH = 128
RATE = 0.003
DECAY = 0.003
SLOPE = 2.0
"""Of the hidden layer's inputs, which are small."""
START = (5.0, 0.5)
"""The first weights of the cosine and of the first stage's score."""


@dataclass(frozen=True)
class Meaning:
    """A question's vector, those of its candidates, which have evidence, and their scores in the first stage."""

    question: "Floats"
    windows: "Floats"
    labels: "NDArray[np.bool_]"
    first: "Floats"
    weight: float


@dataclass(frozen=True)
class _Padded:
    questions: "Floats"
    windows: "Floats"
    labels: "NDArray[np.bool_]"
    filled: "NDArray[np.bool_]"
    first: "Floats"
    weights: "Floats"


class WindowVectors:
    """Vectors of windows. The sums of the last page are kept, because questions come page by page."""

    def __init__(self) -> None:
        self._index: SentenceIndex | None = None
        self._sums: Floats = np.zeros((1, 1))

    def of(self, index: SentenceIndex, chosen: "NDArray[np.intp]") -> "Floats":
        """The vectors of some windows, of length one."""
        if index is not self._index:
            self._index, self._sums = index, _running_sums(index)
        found = self._sums[index.windows.end[chosen]] - self._sums[index.windows.begin[chosen]]
        lengths = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)
        return np.asarray(found / lengths, dtype=np.float16)


def _running_sums(index: SentenceIndex) -> "Floats":
    """The sums of word vectors, weighted by IDF, of all sentences before each."""
    words = index.vectors.words() * index.postings.idf[:, None]
    counts = index.sentences.term_counts
    filled = np.flatnonzero(counts)
    sums = np.zeros((len(counts), words.shape[1]), dtype=np.float32)
    starts = running(counts)[filled].astype(np.intp)
    sums[filled] = np.add.reduceat(words[index.postings.terms], starts, axis=0)
    return np.asarray(running(sums), dtype=np.float32)


def train_expansion(found: Sequence[Meaning]) -> Expansion:
    """The weights that fit these questions."""
    data = _padded([one for one in found if one.labels.any() and not one.labels.all()])
    dice = np.random.default_rng(0)
    width = data.questions.shape[1]
    values: list[Floats] = [
        dice.normal(0, width**-0.5, (width, HIDDEN)),
        np.zeros((HIDDEN, width)),
        np.array(START),
    ]
    slow, square = [np.zeros_like(one) for one in values], [np.zeros_like(one) for one in values]
    step = 0
    for epoch in range(EPOCHS):
        order = dice.permutation(len(data.questions))
        for rows in np.array_split(order, max(1, len(order) // BATCH)):
            step += 1
            for number, slope in enumerate(_slopes(data, rows, values)):
                slow[number] = 0.9 * slow[number] + 0.1 * slope
                square[number] = 0.99 * square[number] + 0.01 * slope**2
                move = (slow[number] / (1 - 0.9**step)) / (
                    np.sqrt(square[number] / (1 - 0.99**step)) + 1e-8
                )
                values[number] = values[number] - RATE * (1 - epoch / EPOCHS) * move
    hidden, out = (SLOPE * values[0]).astype(np.float16), values[1].astype(np.float16)
    return Expansion(hidden.astype(np.float32), out.astype(np.float32))


def write(model: Expansion, path: Path) -> None:
    """Write the weights, compressed."""
    np.savez_compressed(
        path, hidden=model.hidden.astype(np.float16), out=model.out.astype(np.float16)
    )


def _padded(found: Sequence[Meaning]) -> _Padded:
    width = len(found[0].question)
    windows = np.zeros((len(found), CANDIDATES, width), dtype=np.float16)
    labels = np.zeros((len(found), CANDIDATES), dtype=bool)
    filled = np.zeros((len(found), CANDIDATES), dtype=bool)
    first = np.zeros((len(found), CANDIDATES), dtype=np.float32)
    for row, one in enumerate(found):
        count = len(one.labels)
        windows[row, :count], labels[row, :count] = one.windows, one.labels
        filled[row, :count], first[row, :count] = True, one.first
    weights = np.array([one.weight for one in found], dtype=np.float32)
    questions = np.array([one.question for one in found], dtype=np.float32)
    return _Padded(questions, windows, labels, filled, first, weights / weights.mean())


def _slopes(data: _Padded, rows: "NDArray[np.intp]", values: "list[Floats]") -> "list[Floats]":
    """The gradient of the loss: the negative log of the softmax share of the evidence."""
    hidden, out, mix = values
    questions, windows = data.questions[rows], data.windows[rows].astype(np.float32)
    active = np.tanh(SLOPE * questions @ hidden)
    expanded = questions + active @ out
    cosines = np.matmul(windows, expanded[:, :, None])[:, :, 0]
    scores = np.where(data.filled[rows], mix[0] * cosines + mix[1] * data.first[rows], -1e9)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    right = shares * data.labels[rows]
    right /= np.maximum(right.sum(axis=1, keepdims=True), 1e-9)
    error = (shares - right) * data.weights[rows][:, None] / len(rows)
    back = mix[0] * np.matmul(error[:, None, :], windows)[:, 0]
    inner = back @ out.T * (1 - active**2) * SLOPE
    return [
        questions.T @ inner + DECAY * hidden,
        active.T @ back + DECAY * out,
        np.array([(error * cosines).sum(), (error * data.first[rows]).sum()]),
    ]
