"""The re-ranker: features → one score per window, by learned weights.

`tools/train_ranker.py` makes the weights, which are in `ranker.json` beside this file. Scores compare windows of the
same question only; whether the best one answers is for `answer_model` to judge.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Weights:
    """A network with one hidden layer, and a linear part beside it."""

    mean: "Floats"
    scale: "Floats"
    hidden: "Floats"
    bias: "Floats"
    out: "Floats"
    linear: "Floats"

    def scores(self, features: "Floats") -> "Floats":
        """The score of each row, to compare with the other rows of the same question."""
        inputs = (relative(features) - self.mean) / self.scale
        hidden = np.tanh(inputs @ self.hidden + self.bias)
        return np.asarray(hidden @ self.out + inputs @ self.linear)


def relative(features: "Floats") -> "Floats":
    """The features, and how far each is below its maximum over all rows."""
    return np.concatenate((features, features - features.max(axis=0, keepdims=True)), axis=1)


@cache
def load() -> Weights:
    """The weights in the package."""
    return read_weights("kindly.read.ranking", "ranker.json")


def read_weights(package: str, name: str) -> Weights:
    """The weights in a JSON file of a package."""
    held = json.loads(files(package).joinpath(name).read_text("utf-8"))
    arrays = {name: np.array(value, dtype=np.float32) for name, value in held["weights"].items()}
    return Weights(**arrays)
