"""Message-passing neural network over the blocks of a page, evaluated for all blocks at once.

Each block's features are embedded in a small state vector. In each layer a block sends a message, gathers the messages
of its neighbours, of the elements around it, of similar blocks, of its heading and of the whole page, and updates its
state. The meaning of the features is not known here, except which of them are tag codes.
"""

import numpy as np
from numpy.typing import NDArray

from kindly.concurrency.blas import one_thread
from kindly.extract.content.ancestors import Ints
from kindly.extract.content.block_features import (
    DESCRIBED_LEVELS,
    TAG_COLUMNS,
    FeatureTable,
    shift_rows,
)
from kindly.extract.content.char_counts import Floats
from kindly.frozen import frozen

MIN_WEIGHT = 1e-6


@frozen
class Layer:
    """The weights of one round of messages: state → message, and state with gathered messages → update."""

    message: Floats
    message_bias: Floats
    update: Floats
    update_bias: Floats


@frozen
class Network:
    """The weights of one network."""

    embed: Floats
    embed_bias: Floats
    tag_embeddings: Floats
    """For each tag column an embedding of every tag code."""
    layers: tuple[Layer, ...]
    readout: Floats
    readout_bias: Floats

    def log_odds(self, rows: Floats, tags: Ints, graph: "MessageGraph") -> Floats:
        """For each block the log-odds that it is content."""
        state = rows @ self.embed + self.embed_bias
        for embedding, column in zip(self.tag_embeddings, tags, strict=True):
            state += embedding[column]
        np.maximum(state, 0, out=state)
        for layer in self.layers:
            messages = np.maximum(state @ layer.message + layer.message_bias, 0)
            gathered = graph.gather(state, messages)
            state += np.maximum(gathered @ layer.update + layer.update_bias, 0)
        return np.add(state @ self.readout, self.readout_bias, dtype=np.float32)


@frozen
class Ensemble:
    """Several networks with the same input."""

    long_tailed: NDArray[np.bool_]
    """The features that are log-transformed."""
    low: Floats
    high: Floats
    """The bounds that features are clipped to."""
    networks: tuple[Network, ...]

    def log_odds(self, table: FeatureTable) -> list[Floats]:
        """The log-odds of each network."""
        rows = log_scaled(table.matrix, self.long_tailed)
        np.clip(rows, self.low, self.high, out=rows)
        tags = table.matrix[:, TAG_COLUMNS].T.astype(np.int64)
        graph = MessageGraph(table)
        with one_thread():
            return [network.log_odds(rows, tags, graph) for network in self.networks]


def log_scaled(matrix: Floats, long_tailed: NDArray[np.bool_]) -> Floats:
    """A copy with the signed logarithm of the long-tailed columns."""
    scaled = matrix.copy()
    values = matrix[:, long_tailed]
    scaled[:, long_tailed] = np.copysign(np.log(np.abs(values) + 1), values)
    return scaled


class MessageGraph:
    """Which blocks receive messages from which; long blocks have more weight in every mean."""

    def __init__(self, table: FeatureTable) -> None:
        ancestors = table.ancestors
        count = len(table.words)
        sizes = np.bincount(ancestors.groups)
        self._weights = np.log1p(table.words)[:, None]
        self._starts, self._ends = ancestors.spans.T
        self._elements = ancestors.chain[:, DESCRIBED_LEVELS].ravel()
        self._groups = ancestors.groups
        self._by_group = np.argsort(ancestors.groups, kind="stable")
        self._group_starts = np.cumsum(sizes) - sizes
        self._headings = np.where(table.headings >= 0, table.headings, np.arange(count))
        self._inverse_weights = [_inverse(sums) for sums in self._sums(self._weights)]

    def gather(self, state: Floats, messages: Floats) -> Floats:
        """For each block its state and the messages that it receives."""
        sums = self._sums(messages * self._weights)
        elements, groups, page = (
            total * inverse for total, inverse in zip(sums, self._inverse_weights, strict=True)
        )
        columns = (
            state,
            shift_rows(messages, 1),
            shift_rows(messages, -1),
            elements.take(self._elements, axis=0).reshape(len(messages), -1),
            groups.take(self._groups, axis=0),
            np.broadcast_to(page, messages.shape),
            messages.take(self._headings, axis=0),
        )
        return np.concatenate(columns, axis=1, dtype=np.float32)

    def _sums(self, weighted: Floats) -> tuple[Floats, Floats, Floats]:
        """Sums over each element, over each group of similar blocks, and over the page."""
        totals = np.zeros((len(weighted) + 1, weighted.shape[1]))
        np.cumsum(weighted, axis=0, out=totals[1:])
        elements = totals.take(self._ends, axis=0) - totals.take(self._starts, axis=0)
        groups = np.add.reduceat(weighted.take(self._by_group, axis=0), self._group_starts, axis=0)
        return elements.astype(np.float32), groups, totals[-1:].astype(np.float32)


def _inverse(weights: Floats) -> Floats:
    inverse: Floats = np.divide(1, weights + MIN_WEIGHT, dtype=np.float32)
    return inverse
