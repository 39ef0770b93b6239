"""Boosted decision trees, evaluated for all rows and trees at once.

Every tree is laid out to the same depth, so that a row's place on the next level is twice its place on this one, plus
one where its value is above the threshold. What the features mean is not known here.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.char_counts import Floats

FEATURE_BITS = 10
FEATURES = (1 << FEATURE_BITS) - 1
ROWS_AT_ONCE = 128
"""Few enough for a processor to keep near, and not to count beside the page."""

UNCHECKED: Final = "clip"
"""Places are right by construction; to be told of wrong ones takes time."""

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Trees:
    """An ensemble as it is stored: the right child of a node follows the left one, a leaf leads to itself."""

    roots: NDArray[np.int64]
    step: NDArray[np.int64]
    """The left child, and in the low `FEATURE_BITS` the feature."""
    threshold: Floats
    value: Floats
    depth: int

    def grown(self) -> "Forest":
        """The same laid out level by level."""
        at = self.roots[:, None]
        features: list[Places] = []
        thresholds: list[Floats] = []
        for _ in range(self.depth):
            step = self.step[at]
            features.append((step & FEATURES).ravel().astype(np.intp))
            thresholds.append(self.threshold[at].ravel())
            left = step >> FEATURE_BITS
            right = np.where(left == at, at, left + 1)
            at = np.stack((left, right), axis=2).reshape(len(self.roots), -1)
        return Forest(tuple(features), tuple(thresholds), self.value[at].ravel(), len(self.roots))


@dataclass(frozen=True, slots=True)
class Forest:
    """An ensemble ready to be evaluated."""

    features: tuple[Places, ...]
    """For each level the feature of every node, tree by tree."""
    thresholds: tuple[Floats, ...]
    values: Floats
    """Of the leaves."""
    size: int
    """How many trees there are."""

    def odds(self, matrix: Floats) -> Floats:
        """For each row the logarithm of its odds."""
        found = np.empty(len(matrix), np.float32)
        for start in range(0, len(matrix), ROWS_AT_ONCE):
            rows = matrix[start : start + ROWS_AT_ONCE]
            found[start : start + ROWS_AT_ONCE] = self._score(rows)
        return found

    def _score(self, rows: Floats) -> Floats:
        count, width = rows.shape
        flat = rows.ravel()
        offsets = (np.arange(count) * width)[:, None]
        at: Places = np.arange(0, 2 * self.size, 2) + (
            rows.take(self.features[0], axis=1) > self.thresholds[0]
        )
        for features, thresholds in zip(self.features[1:], self.thresholds[1:], strict=True):
            cells = features.take(at, mode=UNCHECKED)
            cells += offsets
            above = flat.take(cells, mode=UNCHECKED) > thresholds.take(at, mode=UNCHECKED)
            at <<= 1
            at += above
        total: Floats = self.values.take(at, mode=UNCHECKED).sum(axis=1)
        return total
