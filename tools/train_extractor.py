"""Train the choice of content and write its data file.

    python -m tools.train_extractor [--data ../shared/data/extract] [--check]

Reads the labelled pages, trains with a fixed seed, prints word F1 by page type of five-fold cross-validation grouped by
site, then trains on all pages and writes `src/kindly/extract/content.npz`. With `--check` nothing is written. Needs the
`train` dependency group.
"""

import argparse
import hashlib
import io
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from kindly.extract.classify import DATA, blend, has_doubts
from kindly.extract.features import Table, enrich, tabulate
from kindly.extract.lexicon import Lexicon
from kindly.extract.typography import Floats
from kindly.extract.whole import settle
from tools.extractor_pages import TrainingPage, read_pages
from tools.extractor_trees import Arrays, flatten, to_arrays, words_to_arrays
from tools.extractor_words import learn_words

SETS = {"wcxb": 1.0, "scrapinghub": 0.6, "readability": 0.4, "magic_html": 0.3}
"""What to train on, and how much a page of each set counts."""
FOLDS = 5
ROUNDS = 150
PARAMETERS = {
    "objective": "cross_entropy",
    "learning_rate": 0.07,
    "num_leaves": 31,
    "max_depth": 6,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "max_bin": 127,
    "seed": 7,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src/kindly/extract" / DATA
SHARED = ROOT / "../shared/data/extract"


@dataclass(slots=True)
class Sample:
    """Pages with what the trees are to learn from each."""

    pages: list[TrainingPage]
    textless: list[TrainingPage]
    """Pages whose truth is not in their text at all."""
    folds: list[int]
    labels: list[Floats]
    weights: list[Floats]

    def train(self, matrices: list[Floats], without: int | None = None) -> lgb.Booster:
        """A model of all folds but one, or of all."""
        chosen = [at for at, fold in enumerate(self.folds) if fold != without]
        weights = np.concatenate([self.weights[at] for at in chosen])
        data = lgb.Dataset(
            np.concatenate([matrices[at] for at in chosen]),
            np.concatenate([self.labels[at] for at in chosen]),
            weight=weights / weights.mean(),
        )
        return lgb.train(PARAMETERS, data, ROUNDS)

    def cross_train(self, matrices: list[Floats]) -> list[Floats]:
        """For every block a chance from a model that has not seen its site."""
        chances: list[Floats] = [np.zeros(0, np.float32)] * len(self.pages)
        for fold in range(FOLDS):
            trees = flatten(self.train(matrices, without=fold)).grown()
            for at, home in enumerate(self.folds):
                if home == fold:
                    chances[at] = trees.chances(matrices[at])
        return chances


def fold_of(site: str) -> int:
    """The fold of a site, the same in every run."""
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:4], "big") % FOLDS


def weigh(page: TrainingPage) -> Floats:
    """What a mistake in each block costs, as a part of the page's word F1."""
    sizes = np.array([len(tokens) for tokens in page.tokens], np.float32)
    weights = np.minimum(np.minimum(sizes, 300) / max(page.truth.total(), 50) + 0.0005, 0.5)
    scale = SETS[page.source] / max(1.0, float(weights.sum()) / 3)
    return (weights * scale).astype(np.float32)


def sample_of(found: list[TrainingPage]) -> Sample:
    """Pages made ready."""
    pages = [page for page in found if page.blocks.texts]
    return Sample(
        pages,
        [page for page in found if not page.blocks.texts],
        [fold_of(page.site) for page in pages],
        [np.array(page.labels, np.float32) for page in pages],
        [weigh(page) for page in pages],
    )


def tables_of(sample: Sample, lexicons: list[Lexicon]) -> list[Table]:
    """The features of each page, with the word list that was made without its fold."""
    return [
        tabulate(page.blocks, page.hints, lexicons[fold])
        for page, fold in zip(sample.pages, sample.folds, strict=True)
    ]


def f1(page: TrainingPage, keep: NDArray[np.bool_]) -> float:
    """Word F1 of the kept blocks."""
    words: Counter[str] = Counter()
    for tokens, kept in zip(page.tokens, keep, strict=True):
        if kept:
            words.update(tokens)
    return 2 * (words & page.truth).total() / max(1, words.total() + page.truth.total())


def report(name: str, sample: Sample, tables: list[Table], chances: list[Floats]) -> None:
    """Print the mean F1 over pages, over page types, and of each type, for every set."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for page in sample.textless:
        scores[page.source][page.page_type].append(0.0)
    for page, table, mine in zip(sample.pages, tables, chances, strict=True):
        keep = settle(page.blocks, mine, table.words)
        scores[page.source][page.page_type].append(f1(page, keep))
    for source, by_type in scores.items():
        means = {kind: fmean(values) for kind, values in sorted(by_type.items())}
        overall = fmean(value for values in by_type.values() for value in values)
        row = "  ".join(f"{kind} {mean:.3f}" for kind, mean in means.items())
        macro = fmean(means.values())
        sys.stdout.write(f"{name}, {source}: F1 {overall:.4f}  macro {macro:.4f}  {row}\n")
    sys.stdout.flush()


def train(pages: list[TrainingPage]) -> Arrays:
    """Cross-validate, then train on everything; the arrays of the data file."""
    sample = sample_of(pages)
    pages = sample.pages
    lexicons = [
        learn_words(page for page, home in zip(pages, sample.folds, strict=True) if home != fold)
        for fold in range(FOLDS)
    ]
    tables = tables_of(sample, lexicons)
    matrices = [table.matrix for table in tables]
    first = sample.cross_train(matrices)
    report("first pass", sample, tables, first)
    enriched = [
        np.concatenate((table.matrix, enrich(table, chances)), axis=1)
        for table, chances in zip(tables, first, strict=True)
    ]
    second = sample.cross_train(enriched)
    report("second pass", sample, tables, second)
    both = [
        blend(one, two) if has_doubts(one, table.words) else one
        for table, one, two in zip(tables, first, second, strict=True)
    ]
    report("together", sample, tables, both)
    lexicon = learn_words(pages)
    return {
        **words_to_arrays("names", lexicon.names),
        **words_to_arrays("words", lexicon.words),
        **to_arrays("first", flatten(sample.train(matrices))),
        **to_arrays("second", flatten(sample.train(enriched))),
    }


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--check", action="store_true", help="only print the table")
    options = parser.parse_args()
    pages = [page for source in SETS for page in read_pages(options.data, source)]
    arrays = train(pages)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]  # the stub takes the names for options
    if not options.check:
        TARGET.write_bytes(packed.getvalue())
    sys.stdout.write(f"{len(pages)} pages, {len(packed.getvalue()):,} bytes\n")


if __name__ == "__main__":
    main()
