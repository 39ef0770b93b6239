"""Gradient-boosted decision trees: vectorised evaluation of all rows and all trees at once.

Every tree is padded to the same depth, so that a node's children are at twice its position on the next level, plus one
if the row's value is above the threshold. The meaning of the features is not known here.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.char_counts import Floats
from kindly.frozen import frozen

FEATURE_BITS = 10
FEATURE_MASK = (1 << FEATURE_BITS) - 1
ROWS_PER_BATCH = 128
"""Small enough for the intermediate arrays to stay in the processor's cache."""

UNCHECKED: Final = "clip"
"""The mode of `take` without bounds checks: positions are valid by construction, and checking costs time."""

Positions = NDArray[np.intp]


@frozen
class PackedTrees:
    """An ensemble in its stored form: a node's right child follows its left child; a leaf is its own left child."""

    roots: NDArray[np.int64]
    step: NDArray[np.int64]
    """For each node its left child, shifted left, and in the low `FEATURE_BITS` the feature to compare."""
    threshold: Floats
    value: Floats
    depth: int

    def unpack(self) -> "Forest":
        """The same trees, laid out level by level for evaluation."""
        nodes = self.roots[:, None]
        features: list[Positions] = []
        thresholds: list[Floats] = []
        for _ in range(self.depth):
            step = self.step[nodes]
            features.append((step & FEATURE_MASK).ravel().astype(np.intp))
            thresholds.append(self.threshold[nodes].ravel())
            left = step >> FEATURE_BITS
            right = np.where(left == nodes, nodes, left + 1)
            nodes = np.stack((left, right), axis=2).reshape(len(self.roots), -1)
        leaves = self.value[nodes].ravel()
        return Forest(tuple(features), tuple(thresholds), leaves, len(self.roots))


@frozen
class Forest:
    """An ensemble ready for evaluation."""

    features: tuple[Positions, ...]
    """For each level the feature of every node, tree by tree."""
    thresholds: tuple[Floats, ...]
    """For each level the threshold of every node, tree by tree."""
    leaves: Floats
    """The values of the leaves, tree by tree."""
    tree_count: int

    def log_odds(self, matrix: Floats) -> Floats:
        """The log-odds of each row."""
        found = np.empty(len(matrix), np.float32)
        for start in range(0, len(matrix), ROWS_PER_BATCH):
            rows = matrix[start : start + ROWS_PER_BATCH]
            found[start : start + ROWS_PER_BATCH] = self._evaluate(rows)
        return found

    def _evaluate(self, rows: Floats) -> Floats:
        count, width = rows.shape
        cells = rows.ravel()
        row_offsets = (np.arange(count) * width)[:, None]
        nodes: Positions = np.arange(0, 2 * self.tree_count, 2) + (
            rows.take(self.features[0], axis=1) > self.thresholds[0]
        )
        for features, thresholds in zip(self.features[1:], self.thresholds[1:], strict=True):
            at = features.take(nodes, mode=UNCHECKED)
            at += row_offsets
            above = cells.take(at, mode=UNCHECKED) > thresholds.take(nodes, mode=UNCHECKED)
            nodes <<= 1
            nodes += above
        total: Floats = self.leaves.take(nodes, mode=UNCHECKED).sum(axis=1)
        return total
