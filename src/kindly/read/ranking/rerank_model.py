"""The second stage of ranking: the best windows of the first stage in a new order, by gradient-boosted trees.

`tools/train_ranker.py` makes the trees, which are in `rerank.npz` beside this file. They read the features of both
stages together, so that they can learn which of them to trust for which kind of text and question.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.candidate_features import candidate_features
from kindly.read.ranking.decision_trees import Trees
from kindly.read.ranking.expansion_model import Expansion
from kindly.read.ranking.ranker_model import relative

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.passage_features import QuestionTerms

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]

DATA = "rerank.npz"
CANDIDATES = 48
BELOW = 12.0
"""How far windows that are no candidates are below them."""


@dataclass(frozen=True)
class Candidates:
    """The windows that the second stage orders, and a row for each."""

    chosen: "Ints"
    rows: "Floats"


@dataclass(frozen=True)
class RerankModel:
    """Trees, and how much the first stage counts beside them."""

    trees: Trees
    first: float

    def scores(self, candidates: Candidates, first: "Floats") -> "Floats":
        """The score of each window: of candidates a new one, of others their old one below all candidates."""
        scores = (first - first.max()).astype(np.float64)
        again = self.trees.sums(candidates.rows) + self.first * scores[candidates.chosen]
        scores -= BELOW
        scores[candidates.chosen] = again
        return np.asarray(scores)


def candidates(
    question: "QuestionTerms", features: "Floats", first: "Floats", expansion: Expansion
) -> Candidates:
    """The best windows of the first stage, with the features of both stages."""
    chosen = best_windows(question, first)
    details = candidate_features(question, chosen, expansion)
    distance = (first[chosen] - first.max())[:, None]
    rank = np.log1p(np.arange(len(chosen)))[:, None]
    rows = (relative(features)[chosen], relative(details), distance, rank)
    return Candidates(chosen, np.concatenate(rows, axis=1, dtype=np.float32))


def best_windows(question: "QuestionTerms", first: "Floats") -> "Ints":
    """The best windows that are better than their neighbours, which share most of their sentences."""
    chunk = question.index.windows.chunk
    same = chunk[1:] == chunk[:-1]
    left = np.append(-np.inf, np.where(same, first[:-1], -np.inf))
    right = np.append(np.where(same, first[1:], -np.inf), -np.inf)
    peaks = np.flatnonzero((first >= left) & (first >= right))
    return np.asarray(peaks[np.argsort(-first[peaks], kind="stable")[:CANDIDATES]])


@cache
def load() -> RerankModel:
    """The model in the package."""
    with np.load(BytesIO(files("kindly.read.ranking").joinpath(DATA).read_bytes())) as held:
        return RerankModel(Trees.of(held), float(held["first"]))
