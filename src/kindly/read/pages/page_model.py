"""Features of pages → a score for each page, by learned weights.

`tools/train_pages.py` makes the weights, which are in `pages.json` beside this file. Scores compare the pages of one
question only.
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

DATA = "pages.json"


@dataclass(frozen=True)
class PageWeights:
    """A network with one hidden layer, and a linear part beside it."""

    mean: "Floats"
    scale: "Floats"
    hidden: "Floats"
    bias: "Floats"
    out: "Floats"
    linear: "Floats"

    def scores(self, features: "Floats") -> "Floats":
        """The score of each page, to compare with the other pages."""
        inputs = (compared(features) - self.mean) / self.scale
        hidden = np.tanh(inputs @ self.hidden + self.bias)
        return np.asarray(hidden @ self.out + inputs @ self.linear)


def compared(features: "Floats") -> "Floats":
    """The features, and how far each is below its maximum over all pages."""
    return np.concatenate((features, features - features.max(axis=0, keepdims=True)), axis=1)


@cache
def load() -> PageWeights:
    """The weights in the package."""
    held = json.loads(files("kindly.read.pages").joinpath(DATA).read_text("utf-8"))
    arrays = {name: np.array(value, dtype=np.float32) for name, value in held["weights"].items()}
    return PageWeights(**arrays)
