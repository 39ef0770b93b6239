"""A small neural network, evaluated for all blocks of a page at once.

Every block is projected to a few numbers; then, layer by layer, it takes in what has become of its neighbours, of the
elements around it, of the blocks that look like it, of the heading above it and of the page. What the features mean is
not known here, except which of them are numbers of tags.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kindly.concurrency.blas import one_thread
from kindly.extract.content.ancestors import Ints
from kindly.extract.content.block_features import LEVELS, TAG_COLUMNS, Table, shifted
from kindly.extract.content.char_counts import Floats

LEAST_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class Layer:
    """What blocks tell others, and what they make of what they are told."""

    tell: Floats
    tell_bias: Floats
    hear: Floats
    hear_bias: Floats


@dataclass(frozen=True, slots=True)
class Network:
    """The weights of one network."""

    project: Floats
    project_bias: Floats
    tags: Floats
    """For each of the features that are numbers of tags what every tag adds."""
    layers: tuple[Layer, ...]
    judge: Floats
    judge_bias: Floats

    def odds(self, rows: Floats, tags: Ints, near: "Surroundings") -> Floats:
        """For each block the logarithm of the odds that it is content."""
        state = rows @ self.project + self.project_bias
        for added, column in zip(self.tags, tags, strict=True):
            state += added[column]
        np.maximum(state, 0, out=state)
        for layer in self.layers:
            told = np.maximum(state @ layer.tell + layer.tell_bias, 0)
            state += np.maximum(near.heard(state, told) @ layer.hear + layer.hear_bias, 0)
        return np.add(state @ self.judge, self.judge_bias, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Panel:
    """Networks that see the same."""

    long_tailed: NDArray[np.bool_]
    """The features that are taken by their logarithm."""
    low: Floats
    high: Floats
    """Between which a feature may lie."""
    networks: tuple[Network, ...]

    def odds(self, table: Table) -> list[Floats]:
        """What each of them says."""
        rows = squeezed(table.matrix, self.long_tailed)
        np.clip(rows, self.low, self.high, out=rows)
        tags = table.matrix[:, TAG_COLUMNS].T.astype(np.int64)
        near = Surroundings(table)
        with one_thread():
            return [network.odds(rows, tags, near) for network in self.networks]


def squeezed(matrix: Floats, long_tailed: NDArray[np.bool_]) -> Floats:
    """A copy with the logarithms of what is long-tailed, signs kept."""
    found = matrix.copy()
    long = matrix[:, long_tailed]
    found[:, long_tailed] = np.copysign(np.log(np.abs(long) + 1), long)
    return found


class Surroundings:
    """Who hears whom on a page; long blocks are heard better."""

    def __init__(self, table: Table) -> None:
        lineage = table.lineage
        count = len(table.words)
        sizes = np.bincount(lineage.groups)
        self._weights = np.log1p(table.words)[:, None]
        self._starts, self._ends = lineage.spans.T
        self._above = lineage.chain[:, LEVELS].ravel()
        self._groups = lineage.groups
        self._by_group = np.argsort(lineage.groups, kind="stable")
        self._group_starts = np.cumsum(sizes) - sizes
        self._headings = np.where(table.headings >= 0, table.headings, np.arange(count))
        self._parts = [_inverse(part) for part in self._sums(self._weights)]

    def heard(self, state: Floats, told: Floats) -> Floats:
        """For each block its own state and all it hears of what others tell."""
        sums = self._sums(told * self._weights)
        around, alike, page = (part * each for part, each in zip(sums, self._parts, strict=True))
        columns = (
            state,
            shifted(told, 1),
            shifted(told, -1),
            around.take(self._above, axis=0).reshape(len(told), -1),
            alike.take(self._groups, axis=0),
            np.broadcast_to(page, told.shape),
            told.take(self._headings, axis=0),
        )
        return np.concatenate(columns, axis=1, dtype=np.float32)

    def _sums(self, weighed: Floats) -> tuple[Floats, Floats, Floats]:
        """Over each element, over each group of blocks that look alike, over the page."""
        totals = np.zeros((len(weighed) + 1, weighed.shape[1]))
        np.cumsum(weighed, axis=0, out=totals[1:])
        within = totals.take(self._ends, axis=0) - totals.take(self._starts, axis=0)
        alike = np.add.reduceat(weighed.take(self._by_group, axis=0), self._group_starts, axis=0)
        return within.astype(np.float32), alike, totals[-1:].astype(np.float32)


def _inverse(weights: Floats) -> Floats:
    inverse: Floats = np.divide(1, weights + LEAST_WEIGHT, dtype=np.float32)
    return inverse
