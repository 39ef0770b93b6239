"""The elements of a page → what every block inherits from those above it.

Values run down the tree by doubling: after each step an element knows twice as many of its ancestors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kindly.extract.blocks import Blocks
from kindly.extract.lexicon import Lexicon
from kindly.extract.typography import Floats

Ints = NDArray[np.int64]
ANCESTORS = 5
SECTION_SHARE = 0.7
"""A section is the largest element with at most this much of the page's words."""


@dataclass(frozen=True, slots=True)
class Lineage:
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


def trace(blocks: Blocks, lexicon: Lexicon, words: Floats) -> Lineage:
    """What every block inherits."""
    parents = np.array(blocks.parents)
    spans = np.array((blocks.starts, blocks.ends)).T
    marks = np.array(blocks.marks)
    looks = np.array(blocks.looks)
    scores = np.array([lexicon.of_names(names) for names in blocks.look_names], np.float32)[looks]
    sections = _sections(parents, spans, words)
    kinds = int(looks.max()) + 1
    _, groups = np.unique(looks * kinds + looks[parents], return_inverse=True)
    _, twins, count = np.unique(parents * kinds + looks, return_inverse=True, return_counts=True)
    repeats = count[twins].astype(np.float32)
    holders = np.array(blocks.holders)
    both = scores.sum(axis=1)
    chain = [holders]
    for _ in range(ANCESTORS):
        chain.append(parents[chain[-1]])
    inherited = np.stack(
        (
            _inherit(scores[:, 0], parents, np.minimum),
            _inherit(scores[:, 1], parents, np.maximum),
            _inherit(np.where(parents == np.arange(len(parents)), 0, both), parents, np.add),
        ),
        axis=1,
    )
    above = np.concatenate((scores, inherited, both[parents][:, None]), axis=1)
    most = _inherit(repeats, parents, np.maximum)
    return Lineage(
        chain=np.stack((*chain, sections[holders]), axis=1),
        spans=spans,
        groups=groups[holders],
        own_marks=marks[holders],
        marks=_inherit(marks, parents, np.bitwise_or)[holders],
        scores=above[holders],
        section_scores=scores[sections[holders]],
        repeats=np.stack((repeats, most), axis=1)[holders],
    )


def _inherit(
    values: NDArray[Any], parents: Ints, merge: Callable[..., NDArray[Any]]
) -> NDArray[Any]:
    """Each element's value merged with those of all above it; the root's must be neutral or idempotent."""
    above = parents
    while above.any():
        values = merge(values, values[above])
        above = above[above]
    return merge(values, values[above])


def _sections(parents: Ints, spans: Ints, words: Floats) -> Ints:
    total = np.concatenate(([0.0], np.cumsum(words)))
    size = total[spans[:, 1]] - total[spans[:, 0]]
    small = size < SECTION_SHARE * total[-1]
    tops = np.where(small & ~small[parents], np.arange(len(parents)), 0)
    return _inherit(tops, parents, np.maximum)
