"""Blocks of a page → which of them are content.

Boosted decision trees, and where they leave doubts also small neural networks. Trees, networks and word lists are data
beside this module, made by `tools/train_extractor.py`; nothing is learned here.
"""

import io
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files

import numpy as np

from kindly.extract.content.block_features import tabulate
from kindly.extract.content.blocks import Blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.choose import chances_of, expected_agreement, settle
from kindly.extract.content.lexicon import Lexicon
from kindly.extract.content.network import Layer, Network, Panel
from kindly.extract.content.outline import Flags
from kindly.extract.content.page_kind import Hints
from kindly.extract.content.trees import Forest, Trees

DATA = "content.npz"
SURE = 0.95
"""A choice that may be expected to agree so well with the content is not thought over again."""
LAYER_PARTS = tuple(part.name for part in fields(Layer))
NETWORK_PARTS = tuple(part.name for part in fields(Network) if part.name != "layers")
PANEL_PARTS = tuple(part.name for part in fields(Panel) if part.name != "networks")


@dataclass(frozen=True, slots=True)
class ContentModel:
    """All that was learned."""

    lexicon: Lexicon
    forest: Forest
    panel: Panel

    def keep(self, blocks: Blocks, hints: Hints) -> Flags:
        """For each block whether it is content; at least one is."""
        table = tabulate(blocks, hints, self.lexicon)
        odds = self.forest.odds(table.matrix)
        if has_doubts(odds, table.words):
            odds = blend([odds, *self.panel.odds(table)])
        return settle(blocks, chances_of(odds), table.words)


def has_doubts(odds: Floats, words: Floats) -> bool:
    """Whether what the trees say is to be thought over."""
    return expected_agreement(chances_of(odds), words) < SURE


def blend(opinions: list[Floats]) -> Floats:
    """What all say together."""
    mean: Floats = np.mean(opinions, axis=0, dtype=np.float32)
    return mean


@lru_cache(maxsize=1)
def load_model() -> ContentModel:
    """The model shipped with the package, read once."""
    data = files("kindly.extract.content").joinpath(DATA).read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return ContentModel(
            Lexicon(_words(arrays, "names"), _words(arrays, "words")),
            _trees(arrays),
            _panel(arrays),
        )


def _words(arrays: "np.lib.npyio.NpzFile", name: str) -> dict[str, float]:
    words = bytes(arrays[f"{name}_text"]).decode().split("\n")
    scores: list[float] = (arrays[f"{name}_score"].astype(np.float32) / 10).tolist()
    return dict(zip(words, scores, strict=True))


def _trees(arrays: "np.lib.npyio.NpzFile") -> Forest:
    trees = Trees(
        roots=arrays["trees_roots"].astype(np.int64),
        step=arrays["trees_step"].astype(np.int64),
        threshold=arrays["trees_threshold"],
        value=arrays["trees_value"].astype(np.float32),
        depth=int(arrays["trees_depth"]),
    )
    return trees.grown()


def _panel(arrays: "np.lib.npyio.NpzFile") -> Panel:
    scale = {name: arrays[f"panel_{name}"] for name in PANEL_PARTS}
    count = int(arrays["networks"])
    return Panel(networks=tuple(_network(arrays, at) for at in range(count)), **scale)


def _network(arrays: "np.lib.npyio.NpzFile", at: int) -> Network:
    parts = {name: arrays[f"network{at}_{name}"] for name in NETWORK_PARTS}
    layers = (
        Layer(*(arrays[f"network{at}_layer{layer}_{name}"] for name in LAYER_PARTS))
        for layer in range(int(arrays["layers"]))
    )
    return Network(layers=tuple(layers), **parts)
