"""Ancestors of each block: the features that a block inherits from the elements around it.

Values propagate down the tree by pointer doubling: each step doubles how many ancestors an element has merged, so a
tree of depth d takes log2(d) vectorised steps.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.blocks import Blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.lexicon import Lexicon
from kindly.frozen import frozen

Ints = NDArray[np.int64]
ANCESTOR_LEVELS = 5
SECTION_SHARE = 0.7
"""A block's section is its largest ancestor with less than this share of the page's words."""
GRID_ITEMS = 3
"""At least this many siblings with the same signature are the items of a grid."""


class Level(IntEnum):
    """The columns of `Ancestors.chain`: which ancestor of a block."""

    ELEMENT = 0
    """The element that contains the block."""
    PARENT = 1
    GRANDPARENT = 2
    SECTION = ANCESTOR_LEVELS + 1


class Score(IntEnum):
    """The columns of a pair of lexicon scores: lowest and highest."""

    LOW = 0
    HIGH = 1


class Inherited(IntEnum):
    """The columns of values that are merged by their maximum over an element and all its ancestors."""

    NEGATED_LOW = 0
    """The lowest score, negated, so that one maximum serves all columns."""
    HIGH = 1
    REPEATS = 2
    SECTION = 3
    NEGATED_ITEM = 4
    """The item of the outermost grid, negated, so that the maximum is the first item on the path."""


class SpanColumn(IntEnum):
    """The columns of `Ancestors.spans`."""

    START = 0
    END = 1


@frozen
class Ancestors:
    """What is known about the elements around each block (`spans`: about each element)."""

    chain: Ints
    """Element numbers: the block's element, its next `ANCESTOR_LEVELS` ancestors, its section; see `Level`."""
    spans: Ints
    """For each element its first block and one past its last; see `SpanColumn`."""
    groups: Ints
    """Blocks share a group if their elements have the same signature, and so do the parents of these."""
    grids: Ints
    """Blocks share a number if the same outermost grid contains them; a block outside of grids has its own."""
    own_marks: Ints
    """The mark bits of the block's element."""
    marks: Ints
    """The mark bits of the element and all its ancestors, combined."""
    scores: Floats
    """Lexicon scores of class names and ids: element low, high; all ancestors low, high, sum; parent sum."""
    section_scores: Floats
    """Lexicon scores of the section: see `Score`."""
    repeats: Floats
    """Siblings with the same signature: of the element, and the maximum over its ancestors."""


def read_ancestors(blocks: Blocks, lexicon: Lexicon, words: Floats) -> Ancestors:
    """The ancestors of all blocks; `words` has the number of words of each block."""
    parents = np.array(blocks.parents)
    spans = np.array((blocks.starts, blocks.ends)).T
    marks = np.array(blocks.marks)
    signatures = np.array(blocks.signatures)
    signature_scores = lexicon.score_names(blocks.signature_names)
    scores = signature_scores.take(signatures, axis=0)
    jumps = _jumps(parents)
    kinds = int(signatures.max()) + 1
    containers = np.array(blocks.containers)
    _, groups = np.unique(
        (signatures * kinds + signatures[parents])[containers], return_inverse=True
    )
    _, twins, count = np.unique(
        parents * kinds + signatures, return_inverse=True, return_counts=True
    )
    repeats = count[twins].astype(np.float32)
    numbers = np.arange(len(parents))
    in_grid = (repeats >= GRID_ITEMS) & (numbers > 0)
    negated_items = np.where(in_grid, -numbers, -len(numbers))
    score_sums = scores.sum(axis=1)
    chain = [containers]
    for _ in range(ANCESTOR_LEVELS):
        chain.append(parents.take(chain[-1]))
    low, high = scores[:, Score.LOW], scores[:, Score.HIGH]
    tops = _section_tops(parents, spans, words)
    merged = np.stack((-low, high, repeats, tops, negated_items), axis=1)
    maxima = _inherit(merged, jumps, np.maximum)
    without_root = score_sums.copy()
    without_root[0] = 0
    path_sums = _inherit(without_root, jumps, np.add)
    element_scores = np.stack(
        (
            low,
            high,
            -maxima[:, Inherited.NEGATED_LOW],
            maxima[:, Inherited.HIGH],
            path_sums,
            score_sums[parents],
        ),
        axis=1,
    )
    sections = maxima[:, Inherited.SECTION].astype(np.int64)
    items = -maxima[:, Inherited.NEGATED_ITEM].astype(np.int64).take(containers)
    all_repeats = np.stack((repeats, maxima[:, Inherited.REPEATS]), axis=1)
    return Ancestors(
        chain=np.stack((*chain, sections.take(containers)), axis=1),
        spans=spans,
        groups=groups,
        grids=_grids(items, twins),
        own_marks=marks.take(containers),
        marks=_inherit(marks, jumps, np.bitwise_or).take(containers),
        scores=element_scores.take(containers, axis=0).astype(np.float32),
        section_scores=scores.take(sections.take(containers), axis=0),
        repeats=all_repeats.take(containers, axis=0).astype(np.float32),
    )


def _grids(items: Ints, twins: Ints) -> Ints:
    """The grid of each block; `items` has the element count for a block outside of grids."""
    outside = len(twins) + np.arange(len(items))
    known = np.append(twins, 0).take(items)
    _, grids = np.unique(np.where(items < len(twins), known, outside), return_inverse=True)
    return grids


def _jumps(parents: Ints) -> list[Ints]:
    """For each element its ancestor 1, 2, 4, … levels up, until all of them are the root."""
    above = parents
    jumps = [above]
    while above.any():
        above = above.take(above)
        jumps.append(above)
    return jumps


def _inherit(
    values: NDArray[Any], jumps: list[Ints], merge: Callable[..., NDArray[Any]]
) -> NDArray[Any]:
    """Merge each element's value with those of all its ancestors.

    The root is its own parent, so its value is merged repeatedly: it must be neutral, or `merge` idempotent.
    """
    for above in jumps:
        values = merge(values, values.take(above, axis=0))
    return values


def _section_tops(parents: Ints, spans: Ints, words: Floats) -> Ints:
    """The number of each element that is the top of a section; zero for all others."""
    total = np.concatenate(([0.0], np.cumsum(words)))
    size = total[spans[:, SpanColumn.END]] - total[spans[:, SpanColumn.START]]
    small = size < SECTION_SHARE * total[-1]
    return np.where(small & ~small[parents], np.arange(len(parents)), 0)
