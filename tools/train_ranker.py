"""Questions with known evidence → the models of `kindly.read.ranking`.

    python -m tools.train_ranker [--check] [--jobs N]

Four small models: a network that orders the windows of a page (softmax over a page's windows, the one with the evidence
should win), an expansion of the question's vector, gradient-boosted trees that order the best windows again, and trees
that judge whether a page answers. Each set has the same weight. Pages are in five folds, and the results of each fold
come from models of the other four; with `--check` nothing is written. Each model learns from what the models before it
give for pages that they have not seen. With one thread, the same data give the same files, byte for byte.
"""

import argparse
import copyreg
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from bench.retrieval import (
    DATA,
    ENGLISH,
    SETS,
    URL,
    Case,
    Data,
    Span,
    elsewhere,
    enough,
    load,
    mean,
    measure,
)
from bench.table_questions import TableQuestion, row_span
from bench.table_questions import questions as table_questions

from kindly.concurrency.blas import one_thread
from kindly.read.chunk import split
from kindly.read.ranking.answer_features import PAGE_FROM, PageFeature
from kindly.read.ranking.answer_model import DATA as TREES
from kindly.read.ranking.answer_model import AnswerModel
from kindly.read.ranking.candidate_features import content_vector
from kindly.read.ranking.decision_trees import Trees
from kindly.read.ranking.expansion_model import DATA as EXPANSION
from kindly.read.ranking.expansion_model import Expansion
from kindly.read.ranking.passage_features import Feature
from kindly.read.ranking.rank import Index
from kindly.read.ranking.ranker_model import Weights, relative
from kindly.read.ranking.rerank_model import DATA as RERANK
from kindly.read.ranking.rerank_model import Candidates, RerankModel, best_windows
from kindly.read.ranking.rerank_model import candidates as with_details
from kindly.read.ranking.static_model import StaticModel
from kindly.read.ranking.static_model import load as load_model
from tools.answer_trees import log_odds, train_trees
from tools.answer_trees import write as write_trees
from tools.question_expansion import Meaning, WindowVectors, train_expansion
from tools.question_expansion import write as write_expansion
from tools.rerank_trees import train_rerank
from tools.rerank_trees import write as write_rerank
from tools.spread import slices, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

Item = TypeVar("Item")
Result = TypeVar("Result")

FOLDER = Path(__file__).parents[1] / "src/kindly/read/ranking"
FOLDS = 5
SOME = 100
"""Questions that a process answers at a time; those of one page come together."""
CANDIDATES = 48
POSITIVES = 8
HARD = 24
HIDDEN = 12
MEMBERS = 4
"""Networks with different random starts, which are averaged."""
EPOCHS = 15
BATCH = 256
RATE = 0.01
DECAY = 0.02
MOST = 1100
"""Training questions of an English set; of another, `MOST_OTHER`."""
MOST_OTHER = 200
OTHER_LANGUAGES = 0.2
"""The weight of a set in another language, relative to an English one."""
MISSED = 0.005
"""The share of answerable questions on pages not seen that may be reported as unanswered."""
MISSED_OTHER = 0.004
"""The same for all sets in other languages together."""
HALF = 0.5
FIRST = 0.5
"""The weight of the first stage's score beside that of the trees."""
TABLES = "tables"
"""The name of the questions about tables; they have the weight of an English set."""
MISSED_TABLES = 0.01
"""The share of questions about tables that may be reported as unanswered."""
OTHER_PAGES = ("train", "more")
"""Seeds: with each, every question of an English set is asked on another page; in other languages with the first."""
EXCERPTS = 200
"""Questions of an English set that are also asked on a part of their page: the pages of the sets are long."""
EXCERPT_SIZES = (200, 4000)
"""Characters beside the evidence, at least and at most."""
EXCERPT_WEIGHT = 0.3
"""The weight of a set's excerpts, relative to its pages."""
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


@dataclass(frozen=True)
class Asked:
    """A question on a page, of which only is known whether the page answers it."""

    set: str
    fold: int
    weight: float
    query: str
    index: Index
    answers: bool
    whole: bool = True
    """Whether it is a whole page, not an excerpt."""


def say(*words: object) -> None:
    """Print progress."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")


def fold_of(page: str) -> int:
    """The fold of a page."""
    return sha256(page.encode()).digest()[0] % FOLDS


def examples(name: str) -> tuple[list[Example], list[Asked]]:
    """A set's questions on their own pages; and on others, and on excerpts."""
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
        Asked(
            name,
            fold_of(pages[text]),
            weight / (len(OTHER_PAGES) if name in ENGLISH else 1),
            query,
            indexes[pages[text]],
            answers=False,
        )
        for seed in (OTHER_PAGES if name in ENGLISH else OTHER_PAGES[:1])
        for text, query in elsewhere(data, seed)
    ]
    parts = list(excerpts(name, data)) if name in ENGLISH else []
    return [one for one in own if len(one.features)], foreign + parts


def about_tables() -> list[Example]:
    """Questions about tables, whose evidence is a row."""
    found: list[Example] = []
    indexes: dict[str, Index] = {}
    asked = [(one, row_span(one)) for one in table_questions()]
    usable: list[tuple[TableQuestion, Span]] = [(one, span) for one, span in asked if span]
    for one, span in usable:
        index = indexes.setdefault(one.page, Index(split(one.text, URL), None))
        case = Case(one.question, one.page, (span,))
        labels = holding(np.array(index.windows()).reshape(-1, 2), case.evidence)
        rows = index.features(one.question)
        weight = 1 / len(usable)
        found.append(
            Example(TABLES, fold_of(one.page), weight, rows, labels, case, index, one.text)
        )
    return found


def excerpts(name: str, data: Data) -> Iterator[Asked]:
    """Some questions on a part of their page with the evidence, and on a part of another page."""
    dice = np.random.default_rng(list(name.encode()))
    chosen = dice.permutation(len(data.cases))[:EXCERPTS].tolist()
    for case in (data.cases[number] for number in chosen):
        weight = EXCERPT_WEIGHT / len(chosen)
        text, (start, end) = data.pages[case.page], case.evidence[0]
        own = _part(text, start, end, dice)
        yield Asked(name, fold_of(case.page), weight, case.query, own, answers=True, whole=False)
        others = [page for page in sorted(data.pages) if page != case.page]
        other = others[dice.integers(len(others))]
        start = int(dice.integers(len(data.pages[other])))
        part = _part(data.pages[other], start, start, dice)
        yield Asked(name, fold_of(other), weight, case.query, part, answers=False, whole=False)


def _part(text: str, start: int, end: int, dice: np.random.Generator) -> Index:
    """The lines around some offsets."""
    before, after = dice.integers(*EXCERPT_SIZES, 2).tolist()
    left = text.rfind("\n", 0, max(1, start - before)) + 1
    right = text.find("\n", min(len(text), end + after))
    return Index(split(text[left : right if right >= 0 else len(text)], URL), None)


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


def judged(own: Sequence[Example], foreign: Sequence[Asked]) -> list[Asked]:
    """All questions that the trees learn from."""
    here = [
        Asked(one.set, one.fold, one.weight, one.case.query, one.index, answers=True) for one in own
    ]
    return [*here, *foreign]


def _is_usable(one: Asked) -> bool:
    """Tables have no questions that they do not answer, so their questions only set the calibration."""
    return one.set != TABLES and (one.answers or one.set not in SAME_QUESTIONS)


def learn(rows: "Floats", asked: Sequence[Asked], chosen: "NDArray[np.bool_]") -> Trees:
    """The trees of some rows. Other pages of sets that ask all the same are no negatives."""
    usable = np.array([_is_usable(one) for one in asked]) & chosen
    labels = np.array([float(one.answers) for one in asked])
    weights = np.array([one.weight for one in asked])
    return train_trees(rows[usable], labels[usable], weights[usable], directions())


def directions() -> list[int]:
    """For each column of an answer row: 1 if more of it never speaks against an answer, -1 if never for one, else 0."""
    found = np.zeros(PAGE_FROM + len(PageFeature), dtype=int)
    windows = [*range(Feature.EARLINESS), Feature.COVERAGE_PAGE]
    found[windows] = 1
    found[Feature.MISSING_WEIGHT] = -1
    found[len(Feature) : len(Feature) + Feature.EARLINESS] = 1
    for feature in PageFeature:
        if feature.name.startswith(("COVERAGE", "SIMILARITY", "NAMES", "COSINE")):
            found[PAGE_FROM + feature] = 1
        elif feature.name.startswith("LACKING"):
            found[PAGE_FROM + feature] = -1
    return found.tolist()


def point(values: "Floats", asked: Sequence[Asked], missed: float = MISSED) -> float:
    """The quantile `missed` of the evidence of English questions, with the same weight for each set."""
    english = np.array([one.set in ENGLISH and one.answers and one.whole for one in asked])
    shares = np.array([one.weight for one in asked])[english]
    order = np.argsort(values[english])
    lost = np.cumsum(shares[order]) / shares.sum()
    return float(values[english][order][np.searchsorted(lost, missed)])


def favour(values: "Floats", rows: "Floats", asked: Sequence[Asked]) -> tuple[float, float]:
    """The smallest additions with which the sets in other languages together lose at most `MISSED_OTHER`.

    One for pages in other languages, and one for questions in Latin letters.
    """
    here = np.array([one.answers and one.set not in (*ENGLISH, TABLES) for one in asked])
    found, english, latin = values[here], rows[here, Feature.ENGLISH], rows[here, Feature.LATIN]
    plain = latin > HALF
    other = _lacking(found[~plain], 1 - english[~plain])
    found = found + other * (1 - english)
    return other, _lacking(found[plain], latin[plain] - english[plain])


def _lacking(values: "Floats", shares: "Floats") -> float:
    """How much must be added, times a share, for at most `MISSED_OTHER` of the values to be below zero."""
    far = shares > HALF
    needed = -values[far] / shares[far]
    return max(0.0, float(np.quantile(needed, 1 - MISSED_OTHER)))


def fold_orders(own: Sequence[Example], jobs: int) -> list[Weights]:
    """For each fold, a network that has not seen its pages; then the network of all."""

    def of(fold: int) -> Weights:
        return Weights(**train_order([one for one in own if one.fold != fold]))

    return spread(of, range(FOLDS + 1), jobs)


def answer_rows(
    asked: Sequence[Asked], orders: Sequence[Weights], jobs: int
) -> "tuple[Floats, list[Asked]]":
    """One row per question that has words, and those questions, by networks that have not seen the page."""

    def row(one: Asked) -> "Floats | None":
        return one.index.answer_row(one.query, orders[one.fold])

    rows = _each(row, asked, jobs)
    kept = [(one, row) for one, row in zip(asked, rows, strict=True) if row is not None]
    return np.stack([row for _, row in kept]), [one for one, _ in kept]


def _each(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> list[Result]:
    """The result of each item, some at a time."""
    parts = spread(
        lambda some: [work(item) for item in items[some]], slices(len(items), SOME), jobs
    )
    return [one for part in parts for one in part]


def across(rows: "Floats", asked: Sequence[Asked], jobs: int) -> "tuple[Floats, Trees]":
    """The log-odds of every row, by trees that have not seen its page; and the trees of all."""
    folds = np.array([one.fold for one in asked])
    *models, whole = spread(lambda fold: learn(rows, asked, folds != fold), range(FOLDS + 1), jobs)
    values = np.zeros(len(asked))
    for fold, trees in enumerate(models):
        values[folds == fold] = log_odds(trees, rows[folds == fold])
    return values, whole


@dataclass(frozen=True)
class Second:
    """What the second stage is trained on, and what it gives on pages not seen."""

    candidates: list[Candidates]
    firsts: list["Floats"]
    models: list[RerankModel]
    """Of each fold."""
    expansion: Expansion
    """Of all questions; the trees of all questions are `whole`."""
    whole: RerankModel

    def scores(self, number: int, fold: int) -> "Floats":
        """Of the windows of a question, by models that have not seen its page."""
        return self.models[fold].scores(self.candidates[number], self.firsts[number])


def second_stage(own: Sequence[Example], orders: Sequence[Weights], jobs: int) -> Second:
    """The models of the second stage, of folds and of all questions."""
    firsts = [orders[one.fold].scores(one.features) for one in own]
    pairs = list(zip(own, firsts, strict=True))
    vectors = WindowVectors()
    meanings = _each(lambda pair: meaning(*pair, vectors), pairs, jobs)
    folds = np.array([one.fold for one in own])

    def expansion(fold: int) -> Expansion:
        numbers = np.flatnonzero(folds != fold).tolist()
        return train_expansion([meanings[number] for number in numbers])

    *expansions, whole = spread(expansion, range(FOLDS + 1), jobs)
    found = _each(lambda pair: _candidates(*pair, expansions[pair[0].fold]), pairs, jobs)
    labels = [one.labels[held.chosen] for one, held in zip(own, found, strict=True)]

    def trees(fold: int) -> RerankModel:
        numbers = np.flatnonzero(folds != fold).tolist()
        rows = [found[number].rows for number in numbers]
        weights = [own[number].weight for number in numbers]
        return RerankModel(train_rerank(rows, [labels[n] for n in numbers], weights), FIRST)

    *models, last = spread(trees, range(FOLDS + 1), jobs)
    return Second(found, firsts, models, whole, last)


def meaning(one: Example, first: "Floats", vectors: WindowVectors) -> Meaning:
    """The vectors of a question and its candidates."""
    terms = one.index.terms_of(one.case.query)
    if terms is None:
        raise ValueError(one.case.query)
    chosen = best_windows(terms, first)
    return Meaning(
        content_vector(terms),
        vectors.of(terms.index, chosen),
        one.labels[chosen],
        first[chosen] - first.max(),
        one.weight,
    )


def _candidates(one: Example, first: "Floats", expansion: Expansion) -> Candidates:
    terms = one.index.terms_of(one.case.query)
    if terms is None:
        raise ValueError(one.case.query)
    return with_details(terms, one.features, first, expansion)


def report(
    own: Sequence[Example],
    second: Second,
    asked: Sequence[Asked],
    evidence: "Floats",
) -> None:
    """Print the results of the folds. The questions of `own` are the first of `asked`."""
    rows: dict[str, list[dict[str, float]]] = {}
    for number, (one, got) in enumerate(zip(own, evidence[: len(own)], strict=True)):
        spans: list[Span] = one.index.spans(second.scores(number, one.fold), 8)
        measured = measure(one.case, one.text, spans)
        rows.setdefault(one.set, []).append(measured | {"empty": float(got < 0)})
    for asking, got in zip(asked[len(own) :], evidence[len(own) :], strict=True):
        kind = "elsewhere" if asking.whole else "excerpt" if asking.answers else "other excerpt"
        rows.setdefault(f"{asking.set} {kind}", []).append({"told": float(got < 0)})
    for name, figures in rows.items():
        say(name, "  ".join(f"{key} {value:.3f}" for key, value in mean(figures).items()))
    english = [mean(rows[name]) for name in ENGLISH]
    say("English", "  ".join(f"{key} {value:.3f}" for key, value in mean(english).items()))
    for kind in ("elsewhere", "excerpt", "other excerpt"):
        say(f"English {kind}", mean([mean(rows[f"{name} {kind}"]) for name in ENGLISH]))


def trade_off(values: "Floats", asked: Sequence[Asked]) -> None:
    """Print which share of other pages is recognised if more or fewer answers may be missed."""
    for missed in (0.002, 0.003, 0.005, 0.007, 0.009, 0.012):
        below = values < point(values, asked, missed)
        told = [
            np.mean([got for one, got in zip(asked, below, strict=True) if _is_other(one, name)])
            for name in ENGLISH
        ]
        say(f"English missed {missed:.3f}  told {np.mean(told):.3f}")


def _is_other(one: Asked, name: str) -> bool:
    return one.set == name and one.whole and not one.answers


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write both models; with `--check` only print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="processes; the result is the same")
    options = parser.parse_args(arguments)
    if not DATA.is_dir():
        say("There is nothing to learn from: ../shared/data/retrieval is not beside this checkout.")
        return 1
    with one_thread():
        own, foreign = questions(options.jobs)
        train(own, foreign, write=not options.check, jobs=options.jobs)
    return 0


def questions(jobs: int) -> tuple[list[Example], list[Asked]]:
    """The questions of all sets: on the pages that answer them; and on others, and on excerpts."""
    copyreg.pickle(StaticModel, lambda _: (load_model, ()))
    found = spread(examples, SETS["all"], jobs)
    own = [one for here, _ in found for one in here]
    return [*own, *about_tables()], [one for _, there in found for one in there]


def train(own: Sequence[Example], foreign: Sequence[Asked], *, write: bool, jobs: int = 1) -> None:
    """Train all models, print the results of the folds, and write the models of all questions."""
    orders = fold_orders(own, jobs)
    second = second_stage(own, orders, jobs)
    rows, asked = answer_rows(judged(own, foreign), orders, jobs)
    values, trees = across(rows, asked, jobs)
    least = point(values, asked)
    other, latin = favour(values - least, rows, asked)
    table = for_tables(values - least, rows, asked)
    calibrated = AnswerModel(trees, least, other, latin, table, table)
    say("calibration", least, other, latin, table)
    more = np.array([calibrated.favour(row) for row in rows])
    report(own, second, asked, values - least + more)
    trade_off(values + more, asked)
    if write:
        write_order(orders[FOLDS])
        write_expansion(second.expansion, FOLDER / EXPANSION)
        write_rerank(second.whole, FOLDER / RERANK)
        write_trees(calibrated, FOLDER / TREES)


def for_tables(values: "Floats", rows: "Floats", asked: Sequence[Asked]) -> float:
    """The addition for table rows with which at most `MISSED_TABLES` of the questions about tables are lost."""
    here = np.array([one.set == TABLES for one in asked])
    share = rows[here, PAGE_FROM + PageFeature.TABLE_BEST]
    lacking = -values[here][share > 0.5] / share[share > 0.5]
    return max(0.0, float(np.quantile(lacking, 1 - MISSED_TABLES)))


def write_order(weights: Weights) -> None:
    """Write the weights of the network, rounded."""
    held = {one.name: np.round(getattr(weights, one.name), 4).tolist() for one in fields(weights)}
    text = json.dumps({"weights": held}, separators=(",", ":"))
    (FOLDER / "ranker.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
