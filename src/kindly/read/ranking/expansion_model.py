"""The meaning of a question, as learned from questions and the passages that answer them: its vector → another.

A question about the law that governs a contract is close to "construed in accordance with", which shares no word with
it. One hidden layer moves the question's vector towards such words. `tools/train_ranker.py` makes the weights, which
are in `expansion.npz` beside this file, for the vectors of the static model.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

DATA = "expansion.npz"


@dataclass(frozen=True)
class Expansion:
    """The weights of the layer, and those from it back to a vector."""

    hidden: "Floats"
    out: "Floats"

    def expand(self, vector: "Floats") -> "Floats":
        """The expanded vector; unchanged if it is not the static model's."""
        if len(vector) != len(self.hidden):
            return vector
        return np.asarray(vector + np.tanh(vector @ self.hidden) @ self.out)


@cache
def load() -> Expansion:
    """The weights in the package."""
    with np.load(BytesIO(files("kindly.read.ranking").joinpath(DATA).read_bytes())) as held:
        return Expansion(held["hidden"].astype(np.float32), held["out"].astype(np.float32))
