"""The elements of a page → what every block inherits from those above it.

Values run down the tree by doubling: after each step an element knows twice as many of its ancestors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.blocks import Blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.lexicon import Lexicon

Ints = NDArray[np.int64]
ANCESTORS = 5
SECTION_SHARE = 0.7
"""A section is the largest element with at most this much of the page's words."""


@dataclass(frozen=True, slots=True)
class Ancestors:
    """For each block (for `spans`: each element) what lies above it."""

    chain: Ints
    """The element around it, the next `ANCESTORS` above, and last its section."""
    spans: Ints
    """For each element its first block and one past its last."""
    groups: Ints
    """Blocks in elements alike in tag and names, and so their parents, have the same number."""
    own_marks: Ints
    marks: Ints
    """Of the element around it and all above."""
    scores: Floats
    """What the names say: of its element (lowest, highest), of all above (lowest, highest, sum), of the parent."""
    section_scores: Floats
    repeats: Floats
    """How many siblings look like its element, and the most that any element above has."""


def trace(blocks: Blocks, lexicon: Lexicon, words: Floats) -> Ancestors:
    """What every block inherits."""
    parents = np.array(blocks.parents)
    spans = np.array((blocks.starts, blocks.ends)).T
    marks = np.array(blocks.marks)
    looks = np.array(blocks.looks)
    scores = np.array([lexicon.of_names(names) for names in blocks.look_names], np.float32).take(
        looks, axis=0
    )
    jumps = _jumps(parents)
    kinds = int(looks.max()) + 1
    holders = np.array(blocks.holders)
    _, groups = np.unique((looks * kinds + looks[parents])[holders], return_inverse=True)
    _, twins, count = np.unique(parents * kinds + looks, return_inverse=True, return_counts=True)
    repeats = count[twins].astype(np.float32)
    both = scores.sum(axis=1)
    chain = [holders]
    for _ in range(ANCESTORS):
        chain.append(parents.take(chain[-1]))
    most = _inherit(
        np.stack((-scores[:, 0], scores[:, 1], repeats, _tops(parents, spans, words)), axis=1),
        jumps,
        np.maximum,
    )
    below_root = both.copy()
    below_root[0] = 0
    summed = _inherit(below_root, jumps, np.add)
    above = np.stack(
        (scores[:, 0], scores[:, 1], -most[:, 0], most[:, 1], summed, both[parents]), axis=1
    )
    sections = most[:, 3].astype(np.int64)
    return Ancestors(
        chain=np.stack((*chain, sections.take(holders)), axis=1),
        spans=spans,
        groups=groups,
        own_marks=marks.take(holders),
        marks=_inherit(marks, jumps, np.bitwise_or).take(holders),
        scores=above.take(holders, axis=0).astype(np.float32),
        section_scores=scores.take(sections.take(holders), axis=0),
        repeats=np.stack((repeats, most[:, 2]), axis=1).take(holders, axis=0).astype(np.float32),
    )


def _jumps(parents: Ints) -> list[Ints]:
    """For each element who is one, two, four, … places above it, up to where all are the root."""
    above = parents
    jumps = [above]
    while above.any():
        above = above.take(above)
        jumps.append(above)
    return jumps


def _inherit(
    values: NDArray[Any], jumps: list[Ints], merge: Callable[..., NDArray[Any]]
) -> NDArray[Any]:
    """Each element's value merged with those of all above it; the root's must be neutral or idempotent."""
    for above in jumps:
        values = merge(values, values.take(above, axis=0))
    return values


def _tops(parents: Ints, spans: Ints, words: Floats) -> Ints:
    """The number of each element that is the top of a section, nought for the others."""
    total = np.concatenate(([0.0], np.cumsum(words)))
    size = total[spans[:, 1]] - total[spans[:, 0]]
    small = size < SECTION_SHARE * total[-1]
    return np.where(small & ~small[parents], np.arange(len(parents)), 0)
