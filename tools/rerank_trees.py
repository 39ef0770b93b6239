"""Candidates with labels → the gradient-boosted trees of `kindly.read.ranking.rerank_model`.

Needs LightGBM (group `train`). One thread and fixed seeds: the same rows give the same trees.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.decision_trees import Trees
from kindly.read.ranking.rerank_model import RerankModel
from tools.answer_trees import arrays, packed, save

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

ROUNDS = 200
SETTINGS = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 10,
    "label_gain": [0, 1],
    "extra_trees": True,
    "num_leaves": 15,
    "learning_rate": 0.06,
    "min_data_in_leaf": 60,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "feature_fraction": 0.3,
    "lambda_l2": 10.0,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}


def train_rerank(
    rows: Sequence["Floats"], labels: Sequence["NDArray[np.bool_]"], weights: Sequence[float]
) -> Trees:
    """The trees of questions: for each the rows of its candidates, which of them have evidence, and its weight."""
    import lightgbm

    usable = [number for number, one in enumerate(labels) if one.any() and not one.all()]
    sizes = [len(labels[number]) for number in usable]
    shares = np.repeat([weights[number] for number in usable], sizes)
    data = lightgbm.Dataset(
        np.concatenate([rows[number] for number in usable]),
        np.concatenate([labels[number] for number in usable]).astype(np.int8),
        weight=shares / shares.mean(),
        group=sizes,
    )
    return packed(lightgbm.train(SETTINGS, data, num_boost_round=ROUNDS))


def write(model: RerankModel, path: Path) -> None:
    """Write the arrays, compressed."""
    save(path, arrays(model.trees) | {"first": np.array(model.first)})
