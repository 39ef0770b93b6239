"""Questions with known evidence → `src/kindly/read/ranking/ranker.json`, the weights of `ranker_model`.

    python -m tools.train_ranker [--check]

Two small models: a network that orders the windows of a page (softmax over a page's windows, the one with the evidence
should win), and a logistic regression that decides whether a page answers. Each set has the same weight. Pages are in
five folds, and the results of each fold come from weights of the other four; with `--check` nothing is written. The
same data give the same file, up to rounding that depends on the number of threads.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.retrieval import (
    DATA,
    ENGLISH,
    SETS,
    URL,
    Case,
    Span,
    elsewhere,
    enough,
    load,
    mean,
    measure,
)

from kindly.read.chunk import split
from kindly.read.ranking.passage_features import Feature
from kindly.read.ranking.rank import Index
from kindly.read.ranking.ranker_model import Weights, relative, summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

OUT = Path(__file__).parents[1] / "src/kindly/read/ranking/ranker.json"
FOLDS = 5
CANDIDATES = 48
POSITIVES = 8
HARD = 24
HIDDEN = 12
MEMBERS = 6
"""Networks with different random starts, which are averaged."""
EPOCHS = 20
BATCH = 256
RATE = 0.01
DECAY = 0.02
MOST = 1100
"""Training questions of an English set; of another, `MOST_OTHER`."""
MOST_OTHER = 200
OTHER_LANGUAGES = 0.2
"""The weight of a set in another language, relative to an English one."""
MISSED = 0.012
"""The share of answerable questions that may be reported as unanswered; the promise is 3 %."""
MISSED_OTHER = 0.001
"""The same for each set in another language."""
SLACK = 0.6
"""A margin, because real questions differ from those of the sets."""
RIDGE = 10.0
LEAST_SPREAD = 1e-3
"""A column with less deviation is constant up to rounding."""
SAME_QUESTIONS = ("policyqa", "cuad")
"""Sets that ask every page the same: other pages often answer, so they are no negatives."""


@dataclass(frozen=True)
class Example:
    """A question on a page: features of the windows, which of them have evidence, fold and set."""

    set: str
    fold: int
    weight: float
    features: "Floats"
    labels: "NDArray[np.bool_]"
    case: Case
    index: Index
    text: str


def say(*words: object) -> None:
    """Print progress."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")


def fold_of(page: str) -> int:
    """The fold of a page."""
    return sha256(page.encode()).digest()[0] % FOLDS


def examples(name: str) -> tuple[list[Example], list[Example]]:
    """A set's questions on their own pages, and on others."""
    data = load(name, MOST if name in ENGLISH else MOST_OTHER)
    indexes = {page: Index(split(text, URL), None) for page, text in data.pages.items()}
    pages = {text: page for page, text in data.pages.items()}
    weight = (1.0 if name in ENGLISH else OTHER_LANGUAGES) / len(data.cases)
    own = []
    for case in data.cases:
        index = indexes[case.page]
        labels = holding(np.array(index.windows()).reshape(-1, 2), case.evidence)
        found = index.features(case.query)
        own.append(
            Example(
                name, fold_of(case.page), weight, found, labels, case, index, data.pages[case.page]
            )
        )
    foreign = [
        replace(
            own[0], fold=fold_of(pages[text]), features=found, case=Case(query, pages[text], ())
        )
        for text, query in elsewhere(data, "train")
        if len(found := indexes[pages[text]].features(query))
    ]
    return [one for one in own if len(one.features)], foreign


def holding(windows: "NDArray[np.intp]", evidence: Sequence[Span]) -> "NDArray[np.bool_]":
    """Which windows contain enough of the evidence."""
    held = np.zeros(len(windows), dtype=bool)
    for start, end in evidence:
        shared = np.minimum(windows[:, 1], end) - np.maximum(windows[:, 0], start)
        held |= shared >= enough(start, end)
    return held


def candidates(one: Example, dice: np.random.Generator) -> "NDArray[np.intp]":
    """The windows that a question trains on: evidence, what looks like it, and some at random."""
    guess = one.features.sum(axis=1)
    good, bad = np.flatnonzero(one.labels), np.flatnonzero(~one.labels)
    rest = CANDIDATES - POSITIVES - HARD
    return np.unique(
        np.concatenate(
            (
                good[np.argsort(-guess[good], kind="stable")[:POSITIVES]],
                bad[np.argsort(-guess[bad], kind="stable")[:HARD]],
                dice.choice(bad, min(len(bad), rest), replace=False),
            )
        )
    )


@dataclass
class Batch:
    """Padded candidates of many questions."""

    inputs: "Floats"
    labels: "Floats"
    filled: "NDArray[np.bool_]"
    weights: "Floats"


def batch(found: Sequence[Example]) -> Batch:
    """All questions that have both evidence and something else to choose from."""
    dice = np.random.default_rng(0)
    usable = [one for one in found if one.labels.any() and not one.labels.all()]
    width = 2 * usable[0].features.shape[1]
    inputs = np.zeros((len(usable), CANDIDATES, width), dtype=np.float32)
    labels = np.zeros((len(usable), CANDIDATES), dtype=np.float32)
    filled = np.zeros((len(usable), CANDIDATES), dtype=bool)
    for row, one in enumerate(usable):
        chosen = candidates(one, dice)
        inputs[row, : len(chosen)] = relative(one.features)[chosen]
        labels[row, : len(chosen)] = one.labels[chosen]
        filled[row, : len(chosen)] = True
    weights = np.array([one.weight for one in usable], dtype=np.float32)
    return Batch(inputs, labels, filled, weights / weights.mean())


def even(rows: "Floats") -> "tuple[Floats, Floats]":
    """Mean and standard deviation of each column; 1 for constant columns."""
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > LEAST_SPREAD, spread, 1)


def train_order(found: Sequence[Example]) -> "dict[str, Floats]":
    """Train the networks, all at once."""
    data = batch(found)
    flat = data.inputs[data.filled]
    mean, scale = even(flat)
    data.inputs = (data.inputs - mean) / scale
    members = [_member(data, seed) for seed in range(MEMBERS)]
    return {
        "mean": mean,
        "scale": scale,
        "hidden": np.concatenate([one[0] for one in members], axis=1),
        "bias": np.concatenate([one[1] for one in members]),
        "out": np.concatenate([one[2] for one in members]) / MEMBERS,
        "linear": np.mean([one[3] for one in members], axis=0),
    }


def _member(data: Batch, seed: int) -> "list[Floats]":
    dice = np.random.default_rng(seed)
    width = data.inputs.shape[2]
    values: list[Floats] = [
        dice.normal(0, width**-0.5, (width, HIDDEN)),
        np.zeros(HIDDEN),
        dice.normal(0, HIDDEN**-0.5, HIDDEN),
        dice.normal(0, 0.05, (width,)),
    ]
    slow, square = [np.zeros_like(one) for one in values], [np.zeros_like(one) for one in values]
    step = 0
    for epoch in range(EPOCHS):
        for rows in np.array_split(
            dice.permutation(len(data.inputs)), max(1, len(data.inputs) // BATCH)
        ):
            step += 1
            for number, slope in enumerate(_slopes(data, rows, values)):
                slope = slope + DECAY * values[number]
                slow[number] = 0.9 * slow[number] + 0.1 * slope
                square[number] = 0.99 * square[number] + 0.01 * slope**2
                move = (slow[number] / (1 - 0.9**step)) / (
                    np.sqrt(square[number] / (1 - 0.99**step)) + 1e-8
                )
                values[number] = values[number] - RATE * (1 - epoch / EPOCHS) * move
    return values


def _slopes(data: Batch, rows: "NDArray[np.intp]", values: "list[Floats]") -> "list[Floats]":
    """The gradient of the loss: the negative log of the softmax share of the evidence."""
    hidden, bias, out, linear = values
    inputs, filled = data.inputs[rows], data.filled[rows]
    active = np.tanh(inputs @ hidden + bias)
    scores = np.where(filled, active @ out + inputs @ linear, -1e9)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    right = shares * data.labels[rows]
    right /= np.maximum(right.sum(axis=1, keepdims=True), 1e-9)
    error = (shares - right) * data.weights[rows][:, None] / len(rows)
    back = error[..., None] * out * (1 - active**2)
    flat = inputs.reshape(-1, inputs.shape[2])
    return [
        flat.T @ back.reshape(-1, HIDDEN),
        back.sum(axis=(0, 1)),
        (error[..., None] * active).sum(axis=(0, 1)),
        flat.T @ error.ravel(),
    ]


def train_answer(
    inputs: "Floats", labels: "Floats", weights: "Floats"
) -> "tuple[dict[str, Floats], float]":
    """Logistic regression by Newton's method, with a ridge."""
    mean, scale = even(inputs)
    columns = np.concatenate(((inputs - mean) / scale, np.ones((len(inputs), 1))), axis=1)
    values = np.zeros(columns.shape[1])
    ridge = np.full(len(values), RIDGE)
    ridge[-1] = 0
    share = weights / weights.mean()
    for _ in range(30):
        guess = 1 / (1 + np.exp(-np.clip(columns @ values, -30, 30)))
        slope = columns.T @ (share * (guess - labels)) + ridge * values
        bend = (columns * (share * guess * (1 - guess) + 1e-9)[:, None]).T @ columns
        values = values - np.linalg.solve(bend + np.diag(ridge), slope)
    return {"answer_mean": mean, "answer_scale": scale, "answer": values[:-1]}, float(values[-1])


def fit(own: Sequence[Example], foreign: Sequence[Example]) -> Weights:
    """Both models from the same questions; the threshold allows the share `MISSED`."""
    order = train_order(own)
    nothing = np.zeros(1, dtype=np.float32)
    weights = Weights(
        **order, answer_mean=nothing, answer_scale=nothing, answer=nothing, answer_bias=0.0
    )
    both = [*own, *(one for one in foreign if one.set not in SAME_QUESTIONS)]
    inputs = np.stack([summary(one.features, weights.scores(one.features)) for one in both])
    labels = np.array([1.0] * len(own) + [0.0] * (len(both) - len(own)))
    shares = np.array([one.weight for one in both])
    answer, bias = train_answer(inputs, labels, shares)
    return replace(weights, **answer, answer_bias=bias)


def evidence(weights: Weights, found: Sequence[Example]) -> "Floats":
    """The evidence of each question on its page."""
    return np.array([weights.evidence(one.features, weights.scores(one.features)) for one in found])


def point(values: "Floats", found: Sequence[Example]) -> float:
    """The quantile `MISSED` of the evidence of English questions, with the same weight for each set."""
    english = np.array([one.set in ENGLISH for one in found])
    shares = np.array([one.weight for one in found])[english]
    order = np.argsort(values[english])
    lost = np.cumsum(shares[order]) / shares.sum()
    return float(values[english][order][np.searchsorted(lost, MISSED)])


@dataclass(frozen=True)
class Favour:
    """Evidence added on pages in other languages, which the model separates less well than English."""

    other: float
    """Times the probability that the page is not English."""
    latin: float
    """In addition, for questions in Latin letters."""

    def of(self, one: Example) -> float:
        """The addition for a question on a page."""
        english, latin = (
            float(one.features[0, column]) for column in (Feature.ENGLISH, Feature.LATIN)
        )
        return self.other * (1 - english) + self.latin * (latin - english)

    def within(self, weights: Weights) -> Weights:
        """Weights that include the addition."""
        answer, bias = weights.answer.copy(), weights.answer_bias + self.other
        for column, amount in (
            (Feature.ENGLISH, -self.other - self.latin),
            (Feature.LATIN, self.latin),
        ):
            answer[column] += amount * weights.answer_scale[column]
            bias += amount * float(weights.answer_mean[column])
        return replace(weights, answer=answer, answer_bias=bias)


def favour(values: "Floats", found: Sequence[Example]) -> Favour:
    """The smallest addition with which each set in another language loses at most `MISSED_OTHER`."""
    lacking: dict[bool, list[float]] = {False: [0.0], True: [0.0]}
    for name in sorted({one.set for one in found} - set(ENGLISH)):
        here = [number for number, one in enumerate(found) if one.set == name]
        english, plain = (
            float(np.mean([found[number].features[0, column] for number in here]))
            for column in (Feature.ENGLISH, Feature.LATIN)
        )
        low = float(np.quantile(values[here], MISSED_OTHER))
        lacking[plain > 0.5].append((SLACK - low) / (1 - english))
    other = max(lacking[False])
    latin = max(0.0, max(lacking[True]) - other)
    return Favour(other, latin)


def across(
    own: Sequence[Example], foreign: Sequence[Example]
) -> "tuple[list[Floats], Floats, Floats]":
    """Scores and evidence of every question, by weights that have not seen its page."""
    scores: list[Floats] = [np.zeros(0)] * len(own)
    here, there = np.zeros(len(own)), np.zeros(len(foreign))
    for fold in range(FOLDS):
        weights = fit(
            [one for one in own if one.fold != fold], [one for one in foreign if one.fold != fold]
        )
        for number, one in enumerate(own):
            if one.fold == fold:
                scores[number] = weights.scores(one.features)
                here[number] = weights.evidence(one.features, scores[number])
        for number, one in enumerate(foreign):
            if one.fold == fold:
                there[number] = weights.evidence(one.features, weights.scores(one.features))
    return scores, here, there


def report(
    own: Sequence[Example], foreign: Sequence[Example], held: "tuple[list[Floats], Floats, Floats]"
) -> None:
    """Print the results of the folds."""
    scores, here, there = held
    least = point(here, own)
    rows: dict[str, list[dict[str, float]]] = {}
    for one, score, got in zip(own, scores, here, strict=True):
        spans: list[Span] = one.index.spans(score, 8) if got >= least else []
        rows.setdefault(one.set, []).append(measure(one.case, one.text, spans))
    for one, got in zip(foreign, there, strict=True):
        rows.setdefault(f"{one.set} elsewhere", []).append({"told": float(got < least)})
    for name, figures in rows.items():
        say(name, "  ".join(f"{key} {value:.3f}" for key, value in mean(figures).items()))
    english = [mean(rows[name]) for name in ENGLISH]
    say("English", "  ".join(f"{key} {value:.3f}" for key, value in mean(english).items()))
    told = [mean(rows[f"{name} elsewhere"]) for name in ENGLISH]
    say("English elsewhere", mean(told))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the weights; with `--check` only print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    if not DATA.is_dir():
        say("There is nothing to learn from: ../shared/data/retrieval is not beside this checkout.")
        return 1
    own: list[Example] = []
    foreign: list[Example] = []
    for name in SETS["all"]:
        asked_here, asked_elsewhere = examples(name)
        own += asked_here
        foreign += asked_elsewhere
    scores, here, there = across(own, foreign)
    more = favour(here - point(here, own), own)
    here = here + np.array([more.of(one) for one in own])
    there = there + np.array([more.of(one) for one in foreign])
    report(own, foreign, (scores, here, there))
    if not options.check:
        weights = more.within(fit(own, foreign))
        write(replace(weights, answer_bias=weights.answer_bias - point(here, own)))
    return 0


def write(weights: Weights) -> None:
    """Write the weights, rounded."""
    held = {
        one.name: np.round(getattr(weights, one.name), 4).tolist()
        for one in fields(weights)
        if one.name != "answer_bias"
    }
    text = json.dumps(
        {"weights": held, "answer_bias": round(weights.answer_bias, 4)}, separators=(",", ":")
    )
    OUT.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
