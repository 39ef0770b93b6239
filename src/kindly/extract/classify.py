"""Blocks of a page → which of them are content.

Two passes of boosted decision trees, the second only where the first leaves doubts. The trees and word lists are data
beside this module, made by `tools/train_extractor.py`; nothing is learned here.
"""

import io
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from kindly.extract.blocks import Blocks
from kindly.extract.features import enrich, tabulate
from kindly.extract.hints import Hints
from kindly.extract.lexicon import Lexicon
from kindly.extract.outline import Flags
from kindly.extract.trees import Forest, Trees
from kindly.extract.typography import Floats
from kindly.extract.whole import expected_agreement, settle

DATA = "content.npz"
SURE = 0.95
"""A choice that may be expected to agree so well with the content is not thought over again."""


@dataclass(frozen=True, slots=True)
class Model:
    """All that was learned."""

    lexicon: Lexicon
    first: Forest
    second: Forest

    def keep(self, blocks: Blocks, hints: Hints) -> Flags:
        """For each block whether it is content; at least one is."""
        table = tabulate(blocks, hints, self.lexicon)
        first = self.first.chances(table.matrix)
        chances = first
        if has_doubts(first, table.words):
            chances = blend(first, self.second.chances(table.matrix, enrich(table, first)))
        return settle(blocks, chances, table.words)


def has_doubts(first: Floats, words: Floats) -> bool:
    """Whether the first pass is to be thought over."""
    return expected_agreement(first, words) < SURE


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


def _trees(arrays: "np.lib.npyio.NpzFile", name: str) -> Forest:
    trees = Trees(
        roots=arrays[f"{name}_roots"].astype(np.int64),
        step=arrays[f"{name}_step"].astype(np.int64),
        threshold=arrays[f"{name}_threshold"],
        value=arrays[f"{name}_value"].astype(np.float32),
        depth=int(arrays[f"{name}_depth"]),
    )
    return trees.grown()
