"""Blocks of a page → which of them are content.

Two passes of boosted decision trees, evaluated for all blocks and trees at once. The trees and word lists are data
beside this module, made by `tools/train_extractor.py`; nothing is learned here.
"""

import io
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from kindly.extract.blocks import Blocks
from kindly.extract.features import enrich, tabulate
from kindly.extract.hints import Hints
from kindly.extract.lexicon import Lexicon
from kindly.extract.typography import Floats
from kindly.extract.whole import Flags, settle

DATA = "content.npz"
ROWS_AT_ONCE = 4_096
FEATURE_BITS = 10
FEATURES = (1 << FEATURE_BITS) - 1


@dataclass(frozen=True, slots=True)
class Trees:
    """An ensemble laid out flat: the right child of a node follows the left one, a leaf leads to itself."""

    roots: NDArray[np.int64]
    step: NDArray[np.int64]
    """The left child, and in the low `FEATURE_BITS` the feature."""
    threshold: Floats
    value: Floats
    depth: int

    def chances(self, matrix: Floats) -> Floats:
        """For each row the chance, 0 to 1."""
        parts = [
            self._score(matrix[start : start + ROWS_AT_ONCE])
            for start in range(0, len(matrix), ROWS_AT_ONCE)
        ]
        return (1 / (1 + np.exp(-np.concatenate(parts)))).astype(np.float32)

    def _score(self, matrix: Floats) -> Floats:
        rows, width = matrix.shape
        flat = np.ascontiguousarray(matrix).ravel()
        offsets = np.arange(rows)[:, None] * width
        at = np.broadcast_to(self.roots, (rows, len(self.roots)))
        for _ in range(self.depth):
            step = self.step.take(at)
            values = flat.take((step & FEATURES) + offsets)
            at = (step >> FEATURE_BITS) + (values > self.threshold.take(at))
        total: Floats = self.value.take(at).sum(axis=1)
        return total


@dataclass(frozen=True, slots=True)
class Model:
    """All that was learned."""

    lexicon: Lexicon
    first: Trees
    second: Trees

    def keep(self, blocks: Blocks, hints: Hints) -> Flags:
        """For each block whether it is content; at least one is."""
        table = tabulate(blocks, hints, self.lexicon)
        first = self.first.chances(table.matrix)
        second = self.second.chances(enrich(table, first))
        return settle(blocks, blend(first, second), table.words)


def blend(first: Floats, second: Floats) -> Floats:
    """What both passes say together."""
    mean: Floats = np.divide(first + second, 2, dtype=np.float32)
    return mean


@lru_cache(maxsize=1)
def load_model() -> Model:
    """The model shipped with the package, read once."""
    data = files("kindly.extract").joinpath(DATA).read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return Model(
            Lexicon(_words(arrays, "names"), _words(arrays, "words")),
            _trees(arrays, "first"),
            _trees(arrays, "second"),
        )


def _words(arrays: "np.lib.npyio.NpzFile", name: str) -> dict[str, float]:
    words = bytes(arrays[f"{name}_text"]).decode().split("\n")
    scores: list[float] = (arrays[f"{name}_score"].astype(np.float32) / 10).tolist()
    return dict(zip(words, scores, strict=True))


def _trees(arrays: "np.lib.npyio.NpzFile", name: str) -> Trees:
    return Trees(
        roots=arrays[f"{name}_roots"].astype(np.int64),
        step=arrays[f"{name}_step"].astype(np.int64),
        threshold=arrays[f"{name}_threshold"],
        value=arrays[f"{name}_value"].astype(np.float32),
        depth=int(arrays[f"{name}_depth"]),
    )
