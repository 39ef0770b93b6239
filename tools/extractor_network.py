"""Trains the message-passing neural network that `kindly.extract.content.network` evaluates.

The forward pass is the same, batched over pages, with two additions for training: dropout, and an auxiliary output for
the type of the page, which makes the network represent the page as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from kindly.extract.content.block_features import DESCRIBED_LEVELS, TAG_COLUMNS, FeatureTable
from kindly.extract.content.blocks import TAG_CODES
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.classify import ENSEMBLE_ARRAYS, LAYER_ARRAYS, NETWORK_ARRAYS
from kindly.extract.content.network import MIN_WEIGHT, Ensemble, Layer, Network, log_scaled
from tools.extractor_trees import Arrays

WIDTH = 40
MESSAGE_WIDTH = 24
LAYERS = 2
EPOCHS = 8
BATCH_PAGES = 16
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-3
DROPOUT = 0.1
TYPE_SHARE = 0.05
"""The weight of the auxiliary loss (page type) relative to that of the blocks."""
TAG_SPREAD = 0.05
LONG_TAIL = 20.0
"""A feature with values beyond this is log-transformed."""
BOUND = 4.0
"""Features are clipped at this many standard deviations from the mean."""
ROWS_PER_PAGE = 60
"""Sampled blocks per page for the mean and standard deviation of features."""

Tensor = Any
Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One training page."""

    table: FeatureTable
    labels: Floats
    weights: Floats
    page_type: int
    """The index of its type, or -1 if unknown."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Standardisation of features: log transform, mean and standard deviation."""

    long_tailed: NDArray[np.bool_]
    mean: Floats
    spread: Floats

    def apply(self, matrix: Floats) -> Floats:
        """The standardised features."""
        scaled = (log_scaled(matrix, self.long_tailed) - self.mean) / self.spread
        bounded: Floats = np.clip(scaled, -BOUND, BOUND).astype(np.float32)
        return bounded


@dataclass(slots=True)
class Batch:
    """Several pages, concatenated."""

    rows: Tensor
    tags: Tensor
    weight: Tensor
    starts: Tensor
    ends: Tensor
    above: Tensor
    groups: Tensor
    headings: Tensor
    pages: Tensor
    follows: Tensor
    """For each block but the first: 1 if the block before it is on the same page."""
    labels: Tensor
    costs: Tensor
    types: Tensor


def scale_of(tables: Sequence[FeatureTable]) -> Scale:
    """The scale of features, with the same number of sampled rows per page."""
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [
            table.matrix[
                rng.choice(len(table.matrix), min(len(table.matrix), ROWS_PER_PAGE), replace=False)
            ]
            for table in tables
        ]
    )
    long_tailed = np.abs(rows).max(axis=0) > LONG_TAIL
    long_tailed[list(TAG_COLUMNS)] = False
    scaled = log_scaled(rows, long_tailed)
    return Scale(long_tailed, scaled.mean(axis=0), scaled.std(axis=0) + 1e-3)


def train_ensemble(examples: Sequence[TrainingExample], seeds: Sequence[int]) -> Ensemble:
    """One network per seed; deterministic for the same pages and seeds."""
    scale = scale_of([example.table for example in examples])
    rows = [scale.apply(example.table.matrix) for example in examples]
    return Ensemble(
        scale.long_tailed,
        (scale.mean - BOUND * scale.spread).astype(np.float32),
        (scale.mean + BOUND * scale.spread).astype(np.float32),
        tuple(_network(_train(examples, rows, seed), scale) for seed in seeds),
    )


def _train(examples: Sequence[TrainingExample], rows: list[Floats], seed: int) -> Weights:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    types = max(example.page_type for example in examples) + 1
    weights = _initial_weights(rows[0].shape[1], types)
    mean_cost = float(np.mean([example.weights.sum() for example in examples]))
    steps = EPOCHS * -(-len(examples) // BATCH_PAGES)
    optimizer = torch.optim.AdamW(
        list(weights.values()), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=steps + 1, pct_start=0.15
    )
    for _ in range(EPOCHS):
        order = rng.permutation(len(examples))
        for start in range(0, len(order), BATCH_PAGES):
            chosen = order[start : start + BATCH_PAGES]
            batch = _batch([examples[at] for at in chosen], [rows[at] for at in chosen])
            loss = _loss(weights, batch, mean_cost * len(chosen))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
            optimizer.step()
            schedule.step()
    return weights


def _initial_weights(features: int, types: int) -> Weights:
    """Initial random weights."""
    gathered = WIDTH + MESSAGE_WIDTH * (2 + len(DESCRIBED_LEVELS) + 3)
    shapes = {"embed": (features, WIDTH)}
    for layer in range(LAYERS):
        shapes |= {f"message{layer}": (WIDTH, MESSAGE_WIDTH), f"update{layer}": (gathered, WIDTH)}
    shapes |= {"readout": (WIDTH, 1), "types": (WIDTH, types)}
    weights: Weights = {}
    for name, (fan_in, fan_out) in shapes.items():
        bound = fan_in**-0.5
        weights[name] = torch.empty(fan_in, fan_out).uniform_(-bound, bound)
        weights[f"{name}_bias"] = torch.empty(fan_out).uniform_(-bound, bound)
    weights["tags"] = torch.randn(len(TAG_COLUMNS), len(TAG_CODES) + 1, WIDTH) * TAG_SPREAD
    return {name: tensor.requires_grad_() for name, tensor in weights.items()}


def _batch(examples: Sequence[TrainingExample], rows: list[Floats]) -> Batch:
    counts = [len(page) for page in rows]
    firsts = np.cumsum([0, *counts])
    tables = [example.table for example in examples]
    elements = np.cumsum([0, *(len(table.ancestors.spans) for table in tables)])
    groups = np.cumsum([0, *(int(table.ancestors.groups.max()) + 1 for table in tables)])
    pages = np.repeat(np.arange(len(rows)), counts)
    headings = [
        np.where(table.headings >= 0, table.headings, np.arange(count)) + first
        for table, count, first in zip(tables, counts, firsts, strict=False)
    ]
    spans = np.concatenate(
        [table.ancestors.spans + first for table, first in zip(tables, firsts, strict=False)]
    )
    chains = [
        t.ancestors.chain[:, DESCRIBED_LEVELS] + at for t, at in zip(tables, elements, strict=False)
    ]
    kinds = [table.ancestors.groups + at for table, at in zip(tables, groups, strict=False)]
    tags = [table.matrix[:, TAG_COLUMNS].astype(np.int64) for table in tables]
    words = np.concatenate([table.words for table in tables])
    tensor = torch.from_numpy
    return Batch(
        rows=tensor(np.concatenate(rows)),
        tags=tensor(np.concatenate(tags)),
        weight=tensor(np.log1p(words)[:, None]),
        starts=tensor(spans[:, 0].copy()),
        ends=tensor(spans[:, 1].copy()),
        above=tensor(np.concatenate(chains).ravel()),
        groups=tensor(np.concatenate(kinds)),
        headings=tensor(np.concatenate(headings)),
        pages=tensor(pages),
        follows=tensor((pages[1:] == pages[:-1]).astype(np.float32)[:, None]),
        labels=tensor(np.concatenate([example.labels for example in examples])),
        costs=tensor(np.concatenate([example.weights for example in examples])),
        types=torch.tensor([example.page_type for example in examples]),
    )


def _loss(weights: Weights, batch: Batch, whole: float) -> Tensor:
    log_odds, types = _forward(weights, batch)
    each = functional.binary_cross_entropy_with_logits(log_odds, batch.labels, reduction="none")
    loss = (each * batch.costs).sum() / whole
    known = batch.types >= 0
    if known.any():
        loss = loss + TYPE_SHARE * functional.cross_entropy(types[known], batch.types[known])
    return loss


def _forward(weights: Weights, batch: Batch) -> tuple[Tensor, Tensor]:
    state = _linear(weights, "embed", functional.dropout(batch.rows, DROPOUT))
    for at, added in enumerate(weights["tags"]):
        state = state + added.index_select(0, batch.tags[:, at])
    state = functional.relu(state)
    for layer in range(LAYERS):
        state = functional.dropout(state, DROPOUT)
        messages = functional.relu(_linear(weights, f"message{layer}", state))
        update = _linear(weights, f"update{layer}", _gather(batch, state, messages))
        state = state + functional.relu(update)
    weighted = torch.cat((state * batch.weight, batch.weight), 1)
    page = _mean(_summed(weighted, batch.pages, len(batch.types)))
    return _linear(weights, "readout", state)[:, 0], _linear(weights, "types", page)


def _gather(batch: Batch, state: Tensor, messages: Tensor) -> Tensor:
    weighted = torch.cat((messages * batch.weight, batch.weight), 1)
    totals = functional.pad(torch.cumsum(weighted.double(), 0), (0, 0, 1, 0))
    spans = totals.index_select(0, batch.ends) - totals.index_select(0, batch.starts)
    around = _mean(spans.float()).index_select(0, batch.above).reshape(len(state), -1)
    alike = _mean(_summed(weighted, batch.groups, int(batch.groups.max()) + 1))
    page = _mean(_summed(weighted, batch.pages, len(batch.types)))
    columns = (
        state,
        functional.pad(messages[:-1] * batch.follows, (0, 0, 1, 0)),
        functional.pad(messages[1:] * batch.follows, (0, 0, 0, 1)),
        around,
        alike.index_select(0, batch.groups),
        page.index_select(0, batch.pages),
        messages.index_select(0, batch.headings),
    )
    return torch.cat(columns, 1)


def _linear(weights: Weights, name: str, values: Tensor) -> Tensor:
    return torch.addmm(weights[f"{name}_bias"], values, weights[name])


def _summed(weighted: Tensor, groups: Tensor, count: int) -> Tensor:
    return torch.zeros(count, weighted.shape[1]).index_add(0, groups, weighted)


def _mean(weighted: Tensor) -> Tensor:
    return weighted[:, :-1] / (weighted[:, -1:] + MIN_WEIGHT)


def _network(weights: Weights, scale: Scale) -> Network:
    """The weights for the product, with the standardisation of features folded into the embedding."""
    arrays = {name: tensor.detach().numpy() for name, tensor in weights.items()}
    embed = (arrays["embed"] / scale.spread[:, None]).astype(np.float32)
    layers = (
        Layer(
            *(
                arrays[f"{name}{at}{part}"]
                for name in ("message", "update")
                for part in ("", "_bias")
            )
        )
        for at in range(LAYERS)
    )
    return Network(
        embed,
        (arrays["embed_bias"] - scale.mean @ embed).astype(np.float32),
        arrays["tags"],
        tuple(layers),
        arrays["readout"][:, 0],
        arrays["readout_bias"],
    )


def ensemble_to_arrays(ensemble: Ensemble) -> Arrays:
    """The arrays of the networks under the names that the product loads."""
    arrays: Arrays = {"networks": np.array(len(ensemble.networks)), "layers": np.array(LAYERS)}
    arrays |= {f"ensemble_{name}": getattr(ensemble, name) for name in ENSEMBLE_ARRAYS}
    for at, network in enumerate(ensemble.networks):
        arrays |= {f"network{at}_{name}": getattr(network, name) for name in NETWORK_ARRAYS}
        for number, layer in enumerate(network.layers):
            for name in LAYER_ARRAYS:
                arrays[f"network{at}_layer{number}_{name}"] = getattr(layer, name)
    return arrays
