"""Rows with labels → gradient-boosted trees, in the arrays that `kindly.read.ranking.answer_model` evaluates.

Needs LightGBM (group `train`). One thread and fixed seeds: the same rows give the same trees.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.answer_model import AnswerModel
from kindly.read.ranking.decision_trees import Trees

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

ROUNDS = 400
SETTINGS = {
    "objective": "binary",
    "extra_trees": True,  # random thresholds: better on pages not seen than the best ones
    "num_leaves": 15,
    "learning_rate": 0.06,
    "min_data_in_leaf": 40,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "feature_fraction": 0.6,
    "lambda_l2": 10.0,
    "boost_from_average": True,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}


def train_trees(
    rows: "Floats", labels: "Floats", weights: "Floats", directions: "Sequence[int]"
) -> Trees:
    """The trees of these rows, which rise or fall with the columns that have a direction."""
    import lightgbm

    data = lightgbm.Dataset(rows, labels, weight=weights / weights.mean())
    settings = SETTINGS | {"monotone_constraints": list(directions)}
    return packed(lightgbm.train(settings, data, num_boost_round=ROUNDS))


def packed(model: Any) -> Trees:
    """The trees of a LightGBM model as arrays."""
    nodes = _Nodes()
    for tree in model.dump_model()["tree_info"]:
        nodes.add(tree["tree_structure"])
    return nodes.trees()


def arrays(trees: Trees) -> "dict[str, NDArray[Any]]":
    """The arrays in the types of the file."""
    return {
        "roots": trees.roots.astype(np.uint16),
        "columns": trees.columns.astype(np.uint8),
        "thresholds": trees.thresholds.astype(np.float32),
        "lefts": trees.lefts.astype(np.uint16),
        "values": trees.values.astype(np.float32),
        "depth": np.array(trees.depth),
    }


def log_odds(trees: Trees, rows: "Floats") -> "Floats":
    """Of each row."""
    return trees.sums(rows)


def write(model: AnswerModel, path: Path) -> None:
    """Write the arrays, compressed."""
    given = (model.point, model.other, model.latin, model.table, model.code)
    calibration = np.array(given).round(4)
    save(path, arrays(model.trees) | {"calibration": calibration})


def save(path: Path, held: "Mapping[str, NDArray[Any]]") -> None:
    """Write named arrays, compressed."""
    np.savez_compressed(path, allow_pickle=False, **held)


class _Nodes:
    """Trees, one node after the other."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.columns: list[int] = []
        self.thresholds: list[np.float32] = []
        self.lefts: list[int] = []
        self.values: list[float] = []
        self.depth = 0

    def add(self, tree: dict[str, Any]) -> None:
        """Add a tree, breadth first."""
        self.roots.append(self._slot())
        level, height = [(tree, self.roots[-1])], 0
        while level:
            level = [one for node, slot in level for one in self._fill(node, slot)]
            height += bool(level)
        self.depth = max(self.depth, height)

    def trees(self) -> Trees:
        """The arrays."""
        return Trees(
            roots=np.array(self.roots),
            columns=np.array(self.columns),
            thresholds=np.array(self.thresholds, dtype=np.float32),
            lefts=np.array(self.lefts),
            values=np.array(self.values, dtype=np.float32),
            depth=self.depth,
        )

    def _fill(self, node: dict[str, Any], slot: int) -> list[tuple[dict[str, Any], int]]:
        """Write a node; its children follow, with their places."""
        if "leaf_value" in node:
            self.values[slot] = node["leaf_value"]
            return []
        self.columns[slot] = node["split_feature"]
        self.thresholds[slot] = _round_down(node["threshold"])
        left, right = self._slot(), self._slot()
        self.lefts[slot] = left
        return [(node["left_child"], left), (node["right_child"], right)]

    def _slot(self) -> int:
        """A new node: a leaf until it is filled."""
        slot = len(self.columns)
        self.columns.append(0)
        self.thresholds.append(np.float32(np.inf))
        self.lefts.append(slot)
        self.values.append(0.0)
        return slot


def _round_down(threshold: float) -> np.float32:
    """The largest single-precision number not above a threshold, so that every row takes the same branch."""
    near = np.float32(threshold)
    return near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))
