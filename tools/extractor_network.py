"""Tables of labelled pages → the small neural network that the product evaluates.

The forward pass is that of `kindly.extract.content.network`, on several pages at once and with what only training
needs: dropout, and a guess at the type of the page, which makes the network look at the page as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from kindly.extract.content.block_features import LEVELS, TAG_COLUMNS, Table
from kindly.extract.content.blocks import TAG_CODES
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.classify import LAYER_PARTS, NETWORK_PARTS, PANEL_PARTS
from kindly.extract.content.network import LEAST_WEIGHT, Layer, Network, Panel, squeezed
from tools.extractor_trees import Arrays

WIDTH = 40
TOLD = 24
LAYERS = 2
EPOCHS = 8
PAGES_AT_ONCE = 16
RATE = 3e-3
DECAY = 1e-3
DROPOUT = 0.1
TYPE_SHARE = 0.05
"""How much the guess at the page's type counts beside the choice of blocks."""
TAG_SPREAD = 0.05
LONG_TAIL = 20.0
"""A feature with values beyond this is taken by its logarithm."""
BOUND = 4.0
"""Standard deviations from the mean beyond which a feature is cut off."""
ROWS_A_PAGE = 60
"""Blocks of each page that the mean and spread of features are measured on."""

Tensor = Any
Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One page to learn from."""

    table: Table
    labels: Floats
    weights: Floats
    page_type: int
    """Its number, or -1 where it is not known."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How features are brought to a common scale."""

    long_tailed: NDArray[np.bool_]
    mean: Floats
    spread: Floats

    def apply(self, matrix: Floats) -> Floats:
        """Features as the network is to see them."""
        scaled = (squeezed(matrix, self.long_tailed) - self.mean) / self.spread
        bounded: Floats = np.clip(scaled, -BOUND, BOUND).astype(np.float32)
        return bounded


@dataclass(slots=True)
class Batch:
    """Several pages as one."""

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
    """For each block but the first whether the one before it is of the same page."""
    labels: Tensor
    costs: Tensor
    types: Tensor


def scale_of(tables: Sequence[Table]) -> Scale:
    """The scale of features, every page counted alike."""
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [
            table.matrix[
                rng.choice(len(table.matrix), min(len(table.matrix), ROWS_A_PAGE), replace=False)
            ]
            for table in tables
        ]
    )
    long_tailed = np.abs(rows).max(axis=0) > LONG_TAIL
    long_tailed[list(TAG_COLUMNS)] = False
    seen = squeezed(rows, long_tailed)
    return Scale(long_tailed, seen.mean(axis=0), seen.std(axis=0) + 1e-3)


def train_panel(lessons: Sequence[Lesson], seeds: Sequence[int]) -> Panel:
    """A network of these pages for each seed, the same for the same one."""
    scale = scale_of([lesson.table for lesson in lessons])
    rows = [scale.apply(lesson.table.matrix) for lesson in lessons]
    return Panel(
        scale.long_tailed,
        (scale.mean - BOUND * scale.spread).astype(np.float32),
        (scale.mean + BOUND * scale.spread).astype(np.float32),
        tuple(_network(_learned(lessons, rows, seed), scale) for seed in seeds),
    )


def _learned(lessons: Sequence[Lesson], rows: list[Floats], seed: int) -> Weights:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    types = max(lesson.page_type for lesson in lessons) + 1
    weights = _begin(rows[0].shape[1], types)
    mean_cost = float(np.mean([lesson.weights.sum() for lesson in lessons]))
    steps = EPOCHS * -(-len(lessons) // PAGES_AT_ONCE)
    optimizer = torch.optim.AdamW(list(weights.values()), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, total_steps=steps + 1, pct_start=0.15
    )
    for _ in range(EPOCHS):
        order = rng.permutation(len(lessons))
        for start in range(0, len(order), PAGES_AT_ONCE):
            chosen = order[start : start + PAGES_AT_ONCE]
            batch = _batch([lessons[at] for at in chosen], [rows[at] for at in chosen])
            loss = _loss(weights, batch, mean_cost * len(chosen))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
            optimizer.step()
            schedule.step()
    return weights


def _begin(features: int, types: int) -> Weights:
    """Weights before anything is learned."""
    heard = WIDTH + TOLD * (2 + len(LEVELS) + 3)
    shapes = {"project": (features, WIDTH)}
    for layer in range(LAYERS):
        shapes |= {f"tell{layer}": (WIDTH, TOLD), f"hear{layer}": (heard, WIDTH)}
    shapes |= {"judge": (WIDTH, 1), "types": (WIDTH, types)}
    weights: Weights = {}
    for name, (fan_in, fan_out) in shapes.items():
        bound = fan_in**-0.5
        weights[name] = torch.empty(fan_in, fan_out).uniform_(-bound, bound)
        weights[f"{name}_bias"] = torch.empty(fan_out).uniform_(-bound, bound)
    weights["tags"] = torch.randn(len(TAG_COLUMNS), len(TAG_CODES) + 1, WIDTH) * TAG_SPREAD
    return {name: tensor.requires_grad_() for name, tensor in weights.items()}


def _batch(lessons: Sequence[Lesson], rows: list[Floats]) -> Batch:
    counts = [len(page) for page in rows]
    firsts = np.cumsum([0, *counts])
    tables = [lesson.table for lesson in lessons]
    elements = np.cumsum([0, *(len(table.lineage.spans) for table in tables)])
    groups = np.cumsum([0, *(int(table.lineage.groups.max()) + 1 for table in tables)])
    pages = np.repeat(np.arange(len(rows)), counts)
    headings = [
        np.where(table.headings >= 0, table.headings, np.arange(count)) + first
        for table, count, first in zip(tables, counts, firsts, strict=False)
    ]
    spans = np.concatenate(
        [table.lineage.spans + first for table, first in zip(tables, firsts, strict=False)]
    )
    chains = [t.lineage.chain[:, LEVELS] + at for t, at in zip(tables, elements, strict=False)]
    kinds = [table.lineage.groups + at for table, at in zip(tables, groups, strict=False)]
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
        labels=tensor(np.concatenate([lesson.labels for lesson in lessons])),
        costs=tensor(np.concatenate([lesson.weights for lesson in lessons])),
        types=torch.tensor([lesson.page_type for lesson in lessons]),
    )


def _loss(weights: Weights, batch: Batch, whole: float) -> Tensor:
    odds, types = _forward(weights, batch)
    each = functional.binary_cross_entropy_with_logits(odds, batch.labels, reduction="none")
    loss = (each * batch.costs).sum() / whole
    known = batch.types >= 0
    if known.any():
        loss = loss + TYPE_SHARE * functional.cross_entropy(types[known], batch.types[known])
    return loss


def _forward(weights: Weights, batch: Batch) -> tuple[Tensor, Tensor]:
    state = _linear(weights, "project", functional.dropout(batch.rows, DROPOUT))
    for at, added in enumerate(weights["tags"]):
        state = state + added.index_select(0, batch.tags[:, at])
    state = functional.relu(state)
    for layer in range(LAYERS):
        state = functional.dropout(state, DROPOUT)
        told = functional.relu(_linear(weights, f"tell{layer}", state))
        heard = _linear(weights, f"hear{layer}", _heard(batch, state, told))
        state = state + functional.relu(heard)
    weighed = torch.cat((state * batch.weight, batch.weight), 1)
    page = _mean(_summed(weighed, batch.pages, len(batch.types)))
    return _linear(weights, "judge", state)[:, 0], _linear(weights, "types", page)


def _heard(batch: Batch, state: Tensor, told: Tensor) -> Tensor:
    weighed = torch.cat((told * batch.weight, batch.weight), 1)
    totals = functional.pad(torch.cumsum(weighed.double(), 0), (0, 0, 1, 0))
    spans = totals.index_select(0, batch.ends) - totals.index_select(0, batch.starts)
    around = _mean(spans.float()).index_select(0, batch.above).reshape(len(state), -1)
    alike = _mean(_summed(weighed, batch.groups, int(batch.groups.max()) + 1))
    page = _mean(_summed(weighed, batch.pages, len(batch.types)))
    columns = (
        state,
        functional.pad(told[:-1] * batch.follows, (0, 0, 1, 0)),
        functional.pad(told[1:] * batch.follows, (0, 0, 0, 1)),
        around,
        alike.index_select(0, batch.groups),
        page.index_select(0, batch.pages),
        told.index_select(0, batch.headings),
    )
    return torch.cat(columns, 1)


def _linear(weights: Weights, name: str, values: Tensor) -> Tensor:
    return torch.addmm(weights[f"{name}_bias"], values, weights[name])


def _summed(weighed: Tensor, homes: Tensor, count: int) -> Tensor:
    return torch.zeros(count, weighed.shape[1]).index_add(0, homes, weighed)


def _mean(weighed: Tensor) -> Tensor:
    return weighed[:, :-1] / (weighed[:, -1:] + LEAST_WEIGHT)


def _network(weights: Weights, scale: Scale) -> Network:
    """The weights as the product needs them, the scale of features worked into them."""
    arrays = {name: tensor.detach().numpy() for name, tensor in weights.items()}
    project = (arrays["project"] / scale.spread[:, None]).astype(np.float32)
    layers = (
        Layer(*(arrays[f"{name}{at}{part}"] for name in ("tell", "hear") for part in ("", "_bias")))
        for at in range(LAYERS)
    )
    return Network(
        project,
        (arrays["project_bias"] - scale.mean @ project).astype(np.float32),
        arrays["tags"],
        tuple(layers),
        arrays["judge"][:, 0],
        arrays["judge_bias"],
    )


def panel_to_arrays(panel: Panel) -> Arrays:
    """The arrays of networks under the names the product reads."""
    arrays: Arrays = {"networks": np.array(len(panel.networks)), "layers": np.array(LAYERS)}
    arrays |= {f"panel_{name}": getattr(panel, name) for name in PANEL_PARTS}
    for at, network in enumerate(panel.networks):
        arrays |= {f"network{at}_{name}": getattr(network, name) for name in NETWORK_PARTS}
        for number, layer in enumerate(network.layers):
            for name in LAYER_PARTS:
                arrays[f"network{at}_layer{number}_{name}"] = getattr(layer, name)
    return arrays
