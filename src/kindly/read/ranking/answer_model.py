"""The judgement whether a page answers: a row of `answer_features` → evidence, by gradient-boosted trees.

`tools/train_ranker.py` makes the trees, which are in `answer.npz` beside this file. Evidence and its scale have the
same meaning on every page.
"""

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.passage_features import Feature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

DATA = "answer.npz"
THRESHOLD = 0.72
"""Where `on_scale` puts the calibrated point: the default of `SIMILARITY_THRESHOLD`."""
_SHIFT = math.log(THRESHOLD / (1 - THRESHOLD))
SLOPE = 0.5
"""The slope of the sigmoid; it only spreads the scores."""
MAX_LOGIT = 6.9
"""Keeps the scale at most 0.999: no answer is certain."""


@dataclass(frozen=True)
class Trees:
    """Decision trees as arrays over nodes. A right child follows its left sibling; a leaf is its own left child."""

    roots: "NDArray[np.integer[Any]]"
    columns: "NDArray[np.integer[Any]]"
    """The column that a node compares."""
    thresholds: "Floats"
    """A row goes right if its value is above; infinite for leaves."""
    lefts: "NDArray[np.integer[Any]]"
    values: "Floats"
    """Of leaves."""
    depth: int

    def log_odds(self, row: "Floats") -> float:
        """The sum of the leaves that a row falls into."""
        nodes = self.roots.astype(np.intp)
        for _ in range(self.depth):
            nodes = self.lefts[nodes] + (row[self.columns[nodes]] > self.thresholds[nodes])
        return float(self.values[nodes].sum(dtype=np.float64))


@dataclass(frozen=True)
class AnswerModel:
    """Trees, and the point from which their log-odds count as an answer."""

    trees: Trees
    point: float
    other: float
    """Evidence added on pages in other languages, which the features separate less well than English."""
    latin: float
    """In addition, for questions in Latin letters."""

    def evidence(self, row: "Floats") -> float:
        """How much speaks for an answer, as log-odds; from zero on it is one."""
        return self.trees.log_odds(row) - self.point + self.favour(row)

    def favour(self, row: "Floats") -> float:
        """The evidence that is added for the page's language."""
        english, latin = float(row[Feature.ENGLISH]), float(row[Feature.LATIN])
        return self.other * (1 - english) + self.latin * (latin - english)


def on_scale(evidence: float) -> float:
    """Log-odds → 0 to 1, rising; zero becomes `THRESHOLD`."""
    bounded = max(-MAX_LOGIT, min(MAX_LOGIT, SLOPE * evidence + _SHIFT))
    return 1 / (1 + math.exp(-bounded))


@cache
def load() -> AnswerModel:
    """The model in the package."""
    with np.load(BytesIO(files("kindly.read.ranking").joinpath(DATA).read_bytes())) as held:
        trees = Trees(
            roots=held["roots"],
            columns=held["columns"],
            thresholds=held["thresholds"],
            lefts=held["lefts"].astype(np.intp),
            values=held["values"],
            depth=int(held["depth"]),
        )
        point, other, latin = held["calibration"].tolist()
    return AnswerModel(trees, point, other, latin)
