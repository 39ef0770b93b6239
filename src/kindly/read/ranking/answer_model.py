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

from kindly.read.ranking.answer_features import PAGE_FROM, PageFeature
from kindly.read.ranking.decision_trees import Trees
from kindly.read.ranking.passage_features import Feature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

DATA = "answer.npz"
KINDS = (PageFeature.TABLE_BEST, PageFeature.CODE_BEST)
THRESHOLD = 0.72
"""Where `on_scale` puts the calibrated point: the default of `SIMILARITY_THRESHOLD`."""
_SHIFT = math.log(THRESHOLD / (1 - THRESHOLD))
SLOPE = 0.5
"""The slope of the sigmoid; it only spreads the scores."""
MAX_LOGIT = 6.9
"""Keeps the scale at most 0.999: no answer is certain."""


@dataclass(frozen=True)
class AnswerModel:
    """Trees, and the point from which their log-odds count as an answer."""

    trees: Trees
    point: float
    other: float
    """Evidence added on pages in other languages, which the features separate less well than English."""
    latin: float
    """In addition, for questions in Latin letters."""
    table: float = 0.0
    """Evidence added if the best window is of table rows; of code. They share few words with a question."""
    code: float = 0.0

    def evidence(self, row: "Floats") -> float:
        """How much speaks for an answer, as log-odds; from zero on it is one."""
        return float(self.trees.sums(row[None])[0]) - self.point + self.favour(row)

    def favour(self, row: "Floats") -> float:
        """The evidence that is added for the page's language and for the kind of text."""
        english, latin = float(row[Feature.ENGLISH]), float(row[Feature.LATIN])
        table, code = (float(row[PAGE_FROM + one]) for one in KINDS)
        language = self.other * (1 - english) + self.latin * (latin - english)
        return language + self.table * table + self.code * code


def on_scale(evidence: float) -> float:
    """Log-odds → 0 to 1, rising; zero becomes `THRESHOLD`."""
    bounded = max(-MAX_LOGIT, min(MAX_LOGIT, SLOPE * evidence + _SHIFT))
    return 1 / (1 + math.exp(-bounded))


@cache
def load() -> AnswerModel:
    """The model in the package."""
    with np.load(BytesIO(files("kindly.read.ranking").joinpath(DATA).read_bytes())) as held:
        trees = Trees.of(held)
        calibration = held["calibration"].tolist()
    return AnswerModel(trees, *calibration)
