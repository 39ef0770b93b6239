"""The chance of each block → the blocks to keep, with tables, lists and sections whole.

Chances come from the classifier; this module knows the tree and no words.
"""

import numpy as np
from numpy.typing import NDArray

from kindly.extract.blocks import Blocks
from kindly.extract.typography import Floats

Flags = NDArray[np.bool_]
UNIT_TAGS = frozenset({"table", "ul", "ol", "dl", "pre"})
UNIT_SHARE = 0.5
"""A list or table with more of the page's words than this may be its layout."""
ITEM_WORDS = 30
"""A list whose blocks are longer on average may hold whole texts."""


def settle(blocks: Blocks, chances: Floats, words: Floats) -> Flags:
    """The blocks to keep, at least one."""
    return choose(evened(blocks, chances, words), words)


def choose(chances: Floats, words: Floats) -> Flags:
    """The blocks whose words together may be expected to agree best with the content.

    Blocks are taken from the likeliest down, as far as the expected F1 of their words rises.
    """
    order = np.argsort(-chances, kind="stable")
    hits = np.cumsum((chances * words)[order])
    taken = np.cumsum(words[order])
    last = int(np.argmax(2 * hits / (taken + hits[-1])))
    keep = np.zeros(len(chances), np.bool_)
    keep[order[: last + 1]] = True
    return keep


def evened(blocks: Blocks, chances: Floats, words: Floats) -> Floats:
    """Chances with one value for all of a list or table."""
    total = words.sum()
    even = chances.copy()
    done = 0
    units = {at for at, tag in enumerate(blocks.look_tags) if tag in UNIT_TAGS}
    for look, start, end in zip(blocks.looks, blocks.starts, blocks.ends, strict=True):
        if look in units and end > start + 1 and start >= done:
            size = words[start:end].sum()
            if size < UNIT_SHARE * total and size < ITEM_WORDS * (end - start):
                even[start:end] = (chances[start:end] * words[start:end]).sum() / size
                done = end
    return even
