"""Content classifier: the blocks of a page → which of them are main content.

Gradient-boosted trees classify every page; on uncertain pages an ensemble of small neural networks is averaged in.
Blocks that are alike then move towards each other. The trained weights are `content.npz` beside this module, written by
`tools/train_extractor.py`.
"""

import io
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from importlib.resources import files

import numpy as np

from kindly.extract.content.block_features import FeatureTable, compute_features
from kindly.extract.content.blocks import Blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.choose import best_expected_f1, select_blocks, sigmoid
from kindly.extract.content.lexicon import Lexicon
from kindly.extract.content.network import Ensemble, Layer, Network
from kindly.extract.content.outline import Flags
from kindly.extract.content.page_kind import Hints
from kindly.extract.content.trees import Forest, PackedTrees
from kindly.frozen import frozen

DATA = "content.npz"
CONFIDENT_F1 = 0.95
"""With an expected F1 of at least this the trees decide alone."""
SMOOTHING = 0.2
"""How far a score moves towards the mean score of similar blocks, and of the grid around the block."""
LAYER_ARRAYS = tuple(part.name for part in fields(Layer))
NETWORK_ARRAYS = tuple(part.name for part in fields(Network) if part.name != "layers")
ENSEMBLE_ARRAYS = tuple(part.name for part in fields(Ensemble) if part.name != "networks")


@frozen
class ContentModel:
    """The trained model: word scores, trees and networks."""

    lexicon: Lexicon
    forest: Forest
    ensemble: Ensemble

    def keep(self, blocks: Blocks, hints: Hints, boilerplate: Sequence[int] = ()) -> Flags:
        """For each block whether it is content; at least one is. `boilerplate` names elements without content."""
        table = compute_features(blocks, hints, self.lexicon)
        log_odds = self.forest.log_odds(table.matrix)
        if is_uncertain(log_odds, table.words):
            log_odds = mean_log_odds([log_odds, *self.ensemble.log_odds(table)])
        probabilities = sigmoid(smooth(log_odds, table))
        return select_blocks(
            blocks, probabilities, table.words, boilerplate, article=hints.is_article
        )


def is_uncertain(log_odds: Floats, words: Floats) -> bool:
    """Whether the trees' prediction is too uncertain to be used alone."""
    return best_expected_f1(sigmoid(log_odds), words) < CONFIDENT_F1


def mean_log_odds(predictions: list[Floats]) -> Floats:
    """The mean of several models' log-odds."""
    mean: Floats = np.mean(predictions, axis=0, dtype=np.float32)
    return mean


def smooth(log_odds: Floats, table: FeatureTable) -> Floats:
    """The log-odds, moved towards the means of similar blocks and of the grid: items are kept or dropped together."""
    weights = np.log1p(table.words)
    moved = log_odds.copy()
    for groups in (table.ancestors.groups, table.ancestors.grids):
        means = np.bincount(groups, log_odds * weights) / np.bincount(groups, weights)
        moved += SMOOTHING * (means.astype(np.float32).take(groups) - log_odds)
    return moved


@lru_cache(maxsize=1)
def load_model() -> ContentModel:
    """The model shipped with the package, loaded once."""
    data = files("kindly.extract.content").joinpath(DATA).read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return ContentModel(
            Lexicon(_scores(arrays, "names"), _scores(arrays, "words")),
            _forest(arrays),
            _ensemble(arrays),
        )


def _scores(arrays: "np.lib.npyio.NpzFile", name: str) -> dict[str, float]:
    words = bytes(arrays[f"{name}_text"]).decode().split("\n")
    scores: list[float] = (arrays[f"{name}_score"].astype(np.float32) / 10).tolist()
    return dict(zip(words, scores, strict=True))


def _forest(arrays: "np.lib.npyio.NpzFile") -> Forest:
    trees = PackedTrees(
        roots=arrays["trees_roots"].astype(np.int64),
        step=arrays["trees_step"].astype(np.int64),
        threshold=arrays["trees_threshold"],
        value=arrays["trees_value"].astype(np.float32),
        depth=int(arrays["trees_depth"]),
    )
    return trees.unpack()


def _ensemble(arrays: "np.lib.npyio.NpzFile") -> Ensemble:
    scale = {name: arrays[f"ensemble_{name}"] for name in ENSEMBLE_ARRAYS}
    count = int(arrays["networks"])
    return Ensemble(networks=tuple(_network(arrays, at) for at in range(count)), **scale)


def _network(arrays: "np.lib.npyio.NpzFile", at: int) -> Network:
    parts = {name: arrays[f"network{at}_{name}"] for name in NETWORK_ARRAYS}
    layers = (
        Layer(*(arrays[f"network{at}_layer{layer}_{name}"] for name in LAYER_ARRAYS))
        for layer in range(int(arrays["layers"]))
    )
    return Network(layers=tuple(layers), **parts)
