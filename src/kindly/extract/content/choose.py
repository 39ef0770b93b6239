"""The chance of each block → the blocks to keep, with tables, lists and sections whole.

Chances come from the classifier; what is decided here knows the tree and how much text a block has.
"""

import numpy as np

from kindly.extract.content.blocks import Blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.outline import Flags, elements_of, with_contents, with_headings

TABLE_SHARE = 0.7
LIST_SHARE = 0.3
"""A table or list with more of the page's words than this may be its layout."""
ITEM_WORDS = 30
"""A list whose blocks are longer on average may hold whole texts."""
CREDITS = {"table": 3.3, "pre": 6.0, "ul": 1.6, "ol": 1.6, "dl": 1.6}
"""By how much the odds of each are raised: what a page sets in rows or lines seldom is chrome."""

SHARPER = 1.2
SHIFT = 2.0
"""How chances are read where blocks are chosen: a little surer, and all those of a page off by so much at once."""
SHIFTS = SHIFT * np.array([-1.5, -0.9, -0.4, 0.0, 0.4, 0.9, 1.5], np.float32)[:, None]
SHIFT_WEIGHTS = np.array([0.101, 0.207, 0.287, 0.31, 0.287, 0.207, 0.101], np.float32) / 1.5
LEAST_CHANCE = 1e-4


def settle(blocks: Blocks, chances: Floats, words: Floats) -> Flags:
    """The blocks to keep, at least one."""
    keep = choose(evened(blocks, chances, words), words)
    return with_contents(blocks, with_headings(blocks, keep))


def chances_of(odds: Floats) -> Floats:
    """Logarithms of odds as chances, 0 to 1."""
    chances: Floats = np.divide(1, 1 + np.exp(-odds), dtype=np.float32)
    return chances


def expected_agreement(chances: Floats, words: Floats) -> float:
    """The F1 of words that the best choice may be expected to have."""
    order = np.argsort(-chances, kind="stable")
    return float(_agreements(chances[order], words[order]).max())


def choose(chances: Floats, words: Floats) -> Flags:
    """The blocks whose words together may be expected to agree best with the content.

    Blocks are taken from the likeliest down, as far as the expected F1 of their words rises. A page may be misjudged as
    a whole, so that is the mean F1 where all its chances are lower, as they are, or higher.
    """
    order = np.argsort(-chances, kind="stable")
    bounded = np.clip(chances[order], LEAST_CHANCE, 1 - LEAST_CHANCE)
    odds = SHARPER * np.log(bounded / (1 - bounded))
    worlds = _agreements(chances_of(odds + SHIFTS), words[order])
    last = int(np.argmax(SHIFT_WEIGHTS @ worlds))
    keep = np.zeros(len(chances), np.bool_)
    keep[order[: last + 1]] = True
    return keep


def _agreements(chances: Floats, words: Floats) -> Floats:
    """The expected F1 of the first, the first two, the first three blocks, …"""
    hits = np.cumsum(chances * words, axis=-1)
    found: Floats = np.divide(2 * hits, np.cumsum(words) + hits[..., -1:], dtype=np.float32)
    return found


def evened(blocks: Blocks, chances: Floats, words: Floats) -> Floats:
    """Chances with one value for all of a list, a table or a piece of code."""
    mass, held = _running(words), _running(chances * words)
    even = chances.copy()
    done = 0
    for at in elements_of(blocks, CREDITS):
        start, end = blocks.starts[at], blocks.ends[at]
        if start < done or start == end:
            continue
        tag, size = blocks.look_tags[blocks.looks[at]], mass[end] - mass[start]
        share = TABLE_SHARE if tag == "table" else LIST_SHARE
        small = size < share * mass[-1] and size < ITEM_WORDS * (end - start)
        if tag == "pre" or (small and end > start + 1):
            mean = (held[end] - held[start]) / size
            even[start:end] = _credited(mean, CREDITS[tag])
            done = end
    return even


def _running(values: Floats) -> list[float]:
    """Running totals, so that the sum over any span is a difference."""
    totals: list[float] = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64))).tolist()
    return totals


def _credited(chance: float, credit: float) -> float:
    return credit * chance / (1 - chance + credit * chance)
