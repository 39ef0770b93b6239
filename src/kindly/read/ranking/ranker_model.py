"""The re-ranker: features → one score per window, and whether the best window answers. Learned weights.

`tools/train_ranker.py` makes the weights, which are in `ranker.json` beside this file. Scores compare windows of the
same question only; `on_scale` has the same meaning on every page.
"""

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.passage_features import Feature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

THRESHOLD = 0.72
"""Where `on_scale` puts the calibrated point: the default of `SIMILARITY_THRESHOLD`."""
_SHIFT = math.log(THRESHOLD / (1 - THRESHOLD))
SLOPE = 0.5
"""The slope of the sigmoid; it only spreads the scores."""
MAX_LOGIT = 9.0
"""Keeps the scale below 1: no answer is certain."""


@dataclass(frozen=True)
class Weights:
    """A network with one hidden layer and a linear part for the order; a logistic regression for whether it answers."""

    mean: "Floats"
    scale: "Floats"
    hidden: "Floats"
    bias: "Floats"
    out: "Floats"
    linear: "Floats"
    answer_mean: "Floats"
    answer_scale: "Floats"
    answer: "Floats"
    answer_bias: float

    def scores(self, features: "Floats") -> "Floats":
        """The score of each window, to compare with the other windows."""
        inputs = (relative(features) - self.mean) / self.scale
        hidden = np.tanh(inputs @ self.hidden + self.bias)
        return np.asarray(hidden @ self.out + inputs @ self.linear)

    def evidence(self, features: "Floats", scores: "Floats") -> float:
        """The log-odds that the best window answers; above zero it does."""
        inputs = (summary(features, scores) - self.answer_mean) / self.answer_scale
        return float(inputs @ self.answer + self.answer_bias)


def relative(features: "Floats") -> "Floats":
    """The features, and how far each is below its maximum over all windows."""
    return np.concatenate((features, features - features.max(axis=0, keepdims=True)), axis=1)


def summary(features: "Floats", scores: "Floats") -> "Floats":
    """The input of the answer regression: the best window's features, their maxima and means, and the page's size.

    All of it is repeated, scaled by how unlikely the page is English, because features weigh less in other languages.
    """
    best = features[int(np.argmax(scores))]
    size = [math.log(len(features))]
    page = np.concatenate((best, features.max(axis=0), features.mean(axis=0), size))
    return np.concatenate((page, page * (1 - best[Feature.ENGLISH])))


def on_scale(evidence: float) -> float:
    """Log-odds → 0 to 1, rising; zero becomes `THRESHOLD`."""
    bounded = max(-MAX_LOGIT, min(MAX_LOGIT, SLOPE * evidence + _SHIFT))
    return 1 / (1 + math.exp(-bounded))


@cache
def load() -> Weights:
    """The weights in the package."""
    held = json.loads(files("kindly.read.ranking").joinpath("ranker.json").read_text("utf-8"))
    arrays = {name: np.array(value, dtype=np.float32) for name, value in held["weights"].items()}
    return Weights(**arrays, answer_bias=held["answer_bias"])
