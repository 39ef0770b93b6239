"""Features → one score per window, and whether the best of them answers: small learned weights, kept beside this file.

`tools/train_ranker.py` makes the weights. A score counts only beside others of the same question; `answers` is the
same on every page.
"""

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.passage_features import NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

_ENGLISH = NAMES.index("english")
THRESHOLD = 0.72
"""Where `answers` puts the calibrated point: the default of `SIMILARITY_THRESHOLD`."""
_SHIFT = math.log(THRESHOLD / (1 - THRESHOLD))
SLOPE = 0.5
"""How fast the scale rises; it only spreads the scores."""
MOST = 9.0
"""Of evidence, as the scale shows it: no answer is beyond doubt."""


@dataclass(frozen=True)
class Weights:
    """A network of one hidden layer beside a linear part, and a logistic one for whether the page answers."""

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
        """How well each window answers, beside the others."""
        inputs = (relative(features) - self.mean) / self.scale
        hidden = np.tanh(inputs @ self.hidden + self.bias)
        return np.asarray(hidden @ self.out + inputs @ self.linear)

    def evidence(self, features: "Floats", scores: "Floats") -> float:
        """For (above zero) or against the best window's being an answer."""
        inputs = (summary(features, scores) - self.answer_mean) / self.answer_scale
        return float(inputs @ self.answer + self.answer_bias)


def relative(features: "Floats") -> "Floats":
    """The features, and how far each is below the best of all windows."""
    return np.concatenate((features, features - features.max(axis=0, keepdims=True)), axis=1)


def summary(features: "Floats", scores: "Floats") -> "Floats":
    """A question on a page: the best window's features, the best and the mean of each, and the page's size.

    All of it is there again by how unlikely the page is English: what tells in one language says less in others.
    """
    best = features[int(np.argmax(scores))]
    size = [math.log(len(features))]
    page = np.concatenate((best, features.max(axis=0), features.mean(axis=0), size))
    return np.concatenate((page, page * (1 - best[_ENGLISH])))


def on_scale(evidence: float) -> float:
    """Evidence → 0 to 1, rising; nought becomes `THRESHOLD`."""
    bounded = max(-MOST, min(MOST, SLOPE * evidence + _SHIFT))
    return 1 / (1 + math.exp(-bounded))


@cache
def load() -> Weights:
    """The weights that come with the package."""
    held = json.loads(files("kindly.read.ranking").joinpath("ranker.json").read_text("utf-8"))
    arrays = {name: np.array(value, dtype=np.float32) for name, value in held["weights"].items()}
    return Weights(**arrays, answer_bias=held["answer_bias"])
