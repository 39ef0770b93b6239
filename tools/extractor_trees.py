"""Converts a trained LightGBM model into the flat arrays that the product evaluates."""

from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.trees import FEATURE_BITS, PackedTrees

Arrays = dict[str, NDArray[Any]]


def pack_trees(model: lgb.Booster) -> PackedTrees:
    """The trees of a model, breadth first."""
    roots: list[int] = []
    features: list[int] = []
    thresholds: list[np.float32] = []
    lefts: list[int] = []
    values: list[float] = []
    depth = 0
    for tree in model.dump_model()["tree_info"]:
        roots.append(len(features))
        level = [tree["tree_structure"]]
        slots = [_slot(features, thresholds, lefts, values)]
        height = 0
        while level:
            following: list[dict[str, Any]] = []
            places: list[int] = []
            for node, slot in zip(level, slots, strict=True):
                if "leaf_value" in node:
                    lefts[slot], values[slot] = slot, node["leaf_value"]
                    continue
                features[slot] = node["split_feature"]
                thresholds[slot] = _round_down(node["threshold"])
                children = [_slot(features, thresholds, lefts, values) for _ in range(2)]
                lefts[slot] = children[0]
                places += children
                following += [node["left_child"], node["right_child"]]
            level, slots = following, places
            height += bool(level)
        depth = max(depth, height)
    return PackedTrees(
        np.array(roots),
        (np.array(lefts) << FEATURE_BITS) | np.array(features),
        np.array(thresholds, np.float32),
        np.array(values, np.float32),
        depth,
    )


def _slot(*columns: list[Any]) -> int:
    for column, empty in zip(columns, (0, np.inf, 0, 0.0), strict=True):
        column.append(empty)
    return len(columns[0]) - 1


def _round_down(threshold: float) -> np.float32:
    """The largest single-precision number not above a threshold, so that every row takes the same branch."""
    near = np.float32(threshold)
    return near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))


def trees_to_arrays(trees: PackedTrees) -> Arrays:
    """The arrays of the trees under the names that the product loads, in the smallest types that fit."""
    return {
        "trees_roots": trees.roots.astype(np.uint32),
        "trees_step": trees.step.astype(np.uint32),
        "trees_threshold": trees.threshold,
        "trees_value": trees.value.astype(np.float32),
        "trees_depth": np.array(trees.depth),
    }


def words_to_arrays(name: str, words: dict[str, float]) -> Arrays:
    """The arrays of word scores, in tenths."""
    ordered = sorted(words)
    text = "\n".join(ordered).encode()
    return {
        f"{name}_text": np.frombuffer(text, np.uint8),
        f"{name}_score": np.array([round(words[word] * 10) for word in ordered], np.int8),
    }
