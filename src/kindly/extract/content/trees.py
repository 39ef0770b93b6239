"""Gradient-boosted decision trees: vectorised evaluation of all rows and all trees at once.

Every tree is padded to the same depth, so that a node's children are at twice its position on the next level, plus one
if the row's value is above the threshold. The meaning of the features is not known here.

Many nodes have the same condition, so each distinct one is evaluated once. The results are packed, eight rows in a
byte, and a path down all trees takes a few bit operations.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.char_counts import Floats
from kindly.frozen import frozen

FEATURE_BITS = 10
FEATURE_MASK = (1 << FEATURE_BITS) - 1
ROWS_PER_BYTE = 8
ROWS_PER_BATCH = 256
"""To bound memory."""

UNCHECKED: Final = "clip"
"""The mode of `take` without bounds checks: positions are valid by construction, and checking costs time."""

Positions = NDArray[np.intp]
Bits = NDArray[np.uint8]


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
        nodes = self.roots[None, :]
        features: list[Positions] = []
        thresholds: list[Floats] = []
        for _ in range(self.depth):
            step = self.step[nodes]
            features.append((step & FEATURE_MASK).ravel().astype(np.intp))
            thresholds.append(self.threshold[nodes].ravel())
            left = step >> FEATURE_BITS
            right = np.where(left == nodes, nodes, left + 1)
            nodes = np.stack((left, right), axis=1).reshape(-1, len(self.roots))
        all_features, all_thresholds = np.concatenate(features), np.concatenate(thresholds)
        conditions = (all_features.astype(np.uint64) << 32) | all_thresholds.view(np.uint32)
        _, first, numbers = np.unique(conditions, return_index=True, return_inverse=True)
        return Forest(
            features=all_features[first],
            thresholds=all_thresholds[first][:, None],
            levels=tuple(np.split(numbers, np.cumsum(list(map(len, features)))[:-1])),
            leaves=self.value[nodes].T.ravel(),
            tree_count=len(self.roots),
        )


@frozen
class Forest:
    """An ensemble ready for evaluation."""

    features: Positions
    """The feature of every distinct condition."""
    thresholds: Floats
    """The threshold of every distinct condition, as a column."""
    levels: tuple[Positions, ...]
    """For each level the condition of every node: of all trees' first nodes, of their second nodes, …"""
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
        columns = np.zeros((rows.shape[1], -len(rows) % ROWS_PER_BYTE + len(rows)), np.float32)
        columns[:, : len(rows)] = rows.T
        above = columns.take(self.features, axis=0, mode=UNCHECKED) > self.thresholds
        packed = np.packbits(above).reshape(len(above), -1)
        path: list[Bits] = []
        for conditions in self.levels:
            nodes = packed.take(conditions, axis=0, mode=UNCHECKED).reshape(1 << len(path), -1)
            path.append(_at_end(nodes, path))
        first, *others = np.unpackbits(np.stack(path), axis=1)
        leaves = first.astype(np.min_scalar_type((1 << len(path)) - 1))
        for turn in others:
            leaves += leaves
            leaves += turn
        at = leaves.reshape(self.tree_count, -1) + self._first_leaves()
        by_tree = self.leaves.take(at, mode=UNCHECKED)[:, : len(rows)]
        total: Floats = np.ascontiguousarray(by_tree.T).sum(axis=1)  # rounded the least
        return total

    def _first_leaves(self) -> Positions:
        return np.arange(0, len(self.leaves), len(self.leaves) // self.tree_count)[:, None]


def _at_end(nodes: Bits, path: list[Bits]) -> Bits:
    """Of the results of all nodes of a level, those of the nodes that the path leads to."""
    for turn in path:
        half = len(nodes) // 2
        left, right = nodes[:half], nodes[half:]
        nodes = left ^ right
        nodes &= turn
        nodes ^= left
    found: Bits = nodes[0]
    return found
