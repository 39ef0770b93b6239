"""Message-passing neural network over the blocks of a page, evaluated for all blocks at once.

Each block's features are embedded in a small state vector. In each layer a block sends a message, gathers the messages
of its neighbours, of the elements around it, of similar blocks, of its heading and of the whole page, and updates its
state. The meaning of the features is not known here, except which of them are tag codes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kindly.concurrency.blas import one_thread
from kindly.extract.content.block_features import (
    DESCRIBED_LEVELS,
    TAG_COLUMNS,
    FeatureTable,
)
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.trees import Positions
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
        tags = table.matrix[:, TAG_COLUMNS].T.astype(np.intp)
        graph = MessageGraph(table)
        with one_thread():
            states = [_embed(network, rows, tags) for network in self.networks]
            for layers in zip(*(network.layers for network in self.networks), strict=True):
                _exchange(layers, states, graph)
            return [
                np.add(state @ network.readout, network.readout_bias, dtype=np.float32)
                for network, state in zip(self.networks, states, strict=True)
            ]


def log_scaled(matrix: Floats, long_tailed: NDArray[np.bool_]) -> Floats:
    """A copy with the signed logarithm of the long-tailed columns."""
    scaled = matrix.copy(order="K")
    values = matrix.T[long_tailed]  # rows of a transposed matrix are faster to select than columns
    size = np.abs(values)
    size += 1
    scaled.T[long_tailed] = np.copysign(np.log(size, out=size), values, out=size)
    return scaled


def _embed(network: Network, rows: Floats, tags: Positions) -> Floats:
    """The first state of each block."""
    state: Floats = rows @ network.embed
    state += network.embed_bias
    for embedding, column in zip(network.tag_embeddings, tags, strict=True):
        state += embedding.take(column, axis=0)
    return np.maximum(state, 0, out=state)


def _exchange(layers: Sequence[Layer], states: Sequence[Floats], graph: "MessageGraph") -> None:
    """Update the states of all networks by one layer."""
    messages = np.stack(
        [state @ layer.message for layer, state in zip(layers, states, strict=True)]
    )
    messages += np.stack([layer.message_bias for layer in layers])[:, None]
    np.maximum(messages, 0, out=messages)
    for layer, state, gathered in zip(layers, states, graph.gather(messages), strict=True):
        update = np.concatenate((state, gathered), axis=1) @ layer.update
        update += layer.update_bias
        state += np.maximum(update, 0, out=update)


class MessageGraph:
    """Which blocks receive messages from which; long blocks have more weight in every mean.

    The messages of blocks, elements, groups and the page are rows of one matrix, so that one `take` gathers them all.
    """

    def __init__(self, table: FeatureTable) -> None:
        ancestors = table.ancestors
        count = len(table.words)
        described = ancestors.chain[:, DESCRIBED_LEVELS]
        used = np.zeros(len(ancestors.spans), np.bool_)
        used[described] = True
        elements = np.flatnonzero(used)
        self._starts, self._ends = ancestors.spans[elements].T
        sizes = np.bincount(ancestors.groups)
        self._by_group = np.argsort(ancestors.groups, kind="stable")
        self._group_starts = np.cumsum(sizes) - sizes
        self._weights = np.log1p(table.words)[:, None]
        weights = self._sums(self._weights[None])
        self._inverse_weights = np.divide(1, weights + MIN_WEIGHT, dtype=np.float32)
        blocks = np.arange(count)
        first_group = count + len(elements)
        page = first_group + len(sizes)
        nothing = page + 1
        self._rows = np.empty((count, described.shape[1] + 5), np.intp)
        self._rows[:, 0] = blocks - 1
        self._rows[0, 0] = nothing
        self._rows[:, 1] = blocks + 1
        self._rows[-1, 1] = nothing
        self._rows[:, 2:-3] = (count - 1 + np.cumsum(used)).take(described)
        self._rows[:, -3] = first_group + ancestors.groups
        self._rows[:, -2] = page
        self._rows[:, -1] = np.where(table.headings >= 0, table.headings, blocks)

    def gather(self, messages: Floats) -> Floats:
        """For each network and block the messages that it receives, from one source after the other.

        From the blocks before and after, the elements around it, similar blocks, the page and the heading.
        """
        networks, count, width = messages.shape
        sums = self._sums(messages * self._weights)
        sums *= self._inverse_weights
        nothing = np.zeros((networks, 1, width), np.float32)
        sent = np.concatenate((messages, sums, nothing), axis=1)
        return sent.take(self._rows.ravel(), axis=1).reshape(networks, count, -1)

    def _sums(self, weighted: Floats) -> Floats:
        """Sums over each element, over each group of similar blocks, and over the page."""
        networks, count, width = weighted.shape
        totals = np.zeros((networks, count + 1, width))
        np.cumsum(weighted, axis=1, out=totals[:, 1:])
        elements = totals.take(self._ends, axis=1)
        elements -= totals.take(self._starts, axis=1)
        groups = np.add.reduceat(weighted.take(self._by_group, axis=1), self._group_starts, axis=1)
        sums: Floats = np.concatenate(
            (elements, groups, totals[:, -1:]), axis=1, dtype=np.float32, casting="same_kind"
        )
        return sums
