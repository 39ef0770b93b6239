"""Train the content classifier and write its data file.

    python -m tools.train_extractor [--data ../shared/data/extract] [--check] [--jobs 2] [--pages wcxb,scrapinghub]

Reads the labelled pages and prints the word F1 by page type of a five-fold cross-validation grouped by site. Then
trains on all pages with fixed seeds and writes `src/kindly/extract/content/content.npz`. `--check` writes nothing. The
file is the same for any number of jobs. `--pages` also reads the pages of these sets as the product does, each with the
models that were not trained on its site, and prints their scores. Needs the `train` dependency group.
"""

import argparse
import hashlib
import io
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

import lightgbm as lgb
import numpy as np

from kindly.extract.content.block_features import FeatureTable, compute_features
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.choose import (
    content_blocks,
    pool_structures,
    sigmoid,
    with_introduced,
)
from kindly.extract.content.classify import (
    DATA,
    ContentModel,
    is_uncertain,
    mean_log_odds,
    smooth,
)
from kindly.extract.content.main_content import without_copies
from kindly.extract.content.network import Ensemble
from kindly.extract.content.outline import (
    with_headings,
    with_likely_headings,
    with_tables_of_contents,
)
from kindly.extract.content.trees import PackedTrees
from tools.extractor_folds import read_by_folds
from tools.extractor_network import TrainingExample, ensemble_to_arrays, train_ensemble
from tools.extractor_pages import TrainingPage, read_pages, read_rows
from tools.extractor_trees import Arrays, pack_trees, trees_to_arrays, words_to_arrays
from tools.extractor_words import learn_words

SETS = {"wcxb": 1.0, "scrapinghub": 0.8, "readability": 0.7, "magic_html": 0.3}
"""The data sets to train on, and the weight of a page of each."""
PAGE_TYPES = (
    *("article", "collection", "documentation", "forum", "listing", "product", "service"),
)
"""As WCXB names them."""
TYPED = "wcxb"
"""The data set with page types."""
FOLDS = 5
SEEDS = (0, 1)
"""One network per seed."""
RARITY = 0.3
"""Exponent of the weight of rare page types: (pages of the most common type / pages of this type) ** RARITY."""
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
JOBS = 2
ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src/kindly/extract/content" / DATA
SHARED = ROOT / "../shared/data/extract"


@dataclass(slots=True)
class Sample:
    """Training pages with labels, weights and features."""

    pages: list[TrainingPage]
    textless: list[TrainingPage]
    """Pages without a block of text; they score zero."""
    folds: list[int]
    labels: list[Floats]
    weights: list[Floats]
    tables: list[FeatureTable]

    def forest(self, without: int | None = None) -> PackedTrees:
        """Trees trained on all folds except `without`."""
        chosen = self._all_but(without)
        weights = np.concatenate([self.weights[at] for at in chosen])
        data = lgb.Dataset(
            np.concatenate([self.tables[at].matrix for at in chosen]),
            np.concatenate([self.labels[at] for at in chosen]),
            weight=weights / weights.mean(),
        )
        return pack_trees(lgb.train(PARAMETERS, data, ROUNDS))

    def ensemble(self, without: int | None = None) -> Ensemble:
        """Networks trained on all folds except `without`."""
        examples = [
            TrainingExample(
                self.tables[at], self.labels[at], self.weights[at], type_of(self.pages[at])
            )
            for at in self._all_but(without)
        ]
        return train_ensemble(examples, SEEDS)

    def pages_of(self, fold: int) -> list[int]:
        """The indexes of the pages in a fold."""
        return [at for at, own in enumerate(self.folds) if own == fold]

    def _all_but(self, fold: int | None) -> list[int]:
        return [at for at, own in enumerate(self.folds) if own != fold]


@dataclass(frozen=True, slots=True)
class Models:
    """Trained models, by the fold that they were not trained on; None: trained on everything."""

    forests: dict[int | None, PackedTrees]
    ensembles: dict[int | None, Ensemble]


def type_of(page: TrainingPage) -> int:
    """The index of a page's type, or -1 if its data set has no types."""
    return PAGE_TYPES.index(page.page_type) if page.source == TYPED else -1


def fold_of(site: str) -> int:
    """The fold of a site, the same in every run."""
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:4], "big") % FOLDS


def rarities(types: list[int]) -> dict[int, float]:
    """The weight of a page of each type; an unknown type weighs as much as the most common one."""
    counts = Counter(kind for kind in types if kind >= 0)
    most = max(counts.values())
    return {-1: 1.0} | {kind: (most / count) ** RARITY for kind, count in counts.items()}


def weigh(page: TrainingPage, rarity: float) -> Floats:
    """The cost of an error in each block, as a part of the page's word F1; pages of rare types have more weight."""
    sizes = np.array([len(tokens) for tokens in page.tokens], np.float32)
    weights = np.minimum(np.minimum(sizes, 300) / max(page.truth.total(), 50) + 0.0005, 0.5)
    scale = rarity * SETS[page.source] / max(1.0, float(weights.sum()) / 3)
    return (weights * scale).astype(np.float32)


def sample_of(found: list[TrainingPage]) -> Sample:
    """The training sample; each page's features use a lexicon that was learned without its fold."""
    pages = [page for page in found if page.blocks.texts]
    folds = [fold_of(page.site) for page in pages]
    rarity = rarities([type_of(page) for page in pages])
    lexicons = [
        learn_words(page for page, own in zip(pages, folds, strict=True) if own != fold)
        for fold in range(FOLDS)
    ]
    return Sample(
        pages,
        [page for page in found if not page.blocks.texts],
        folds,
        [np.array(page.labels, np.float32) for page in pages],
        [weigh(page, rarity[type_of(page)]) for page in pages],
        [
            compute_features(page.blocks, page.hints, lexicons[fold])
            for page, fold in zip(pages, folds, strict=True)
        ],
    )


def f1(page: TrainingPage, keep: list[bool]) -> float:
    """Word F1 of the kept blocks."""
    words: Counter[str] = Counter()
    for tokens, kept in zip(page.tokens, keep, strict=True):
        if kept:
            words.update(tokens)
    return 2 * (words & page.truth).total() / max(1, words.total() + page.truth.total())


def select(page: TrainingPage, table: FeatureTable, log_odds: Floats) -> list[bool]:
    """The blocks that the product keeps, except for footnotes and boilerplate by name, which need the page's tree."""
    blocks = page.blocks
    probabilities = sigmoid(smooth(log_odds, table))
    keep = with_headings(blocks, content_blocks(blocks, probabilities, table.words))
    headed = with_likely_headings(blocks, keep, probabilities)
    pooled = pool_structures(blocks, probabilities, table.words)
    introduced = with_introduced(blocks, headed, pooled)
    outlined = with_tables_of_contents(blocks, introduced, article=page.hints.is_article)
    return without_copies(blocks, outlined.tolist())


def report(name: str, sample: Sample, predictions: list[Floats]) -> None:
    """Print the mean F1 over pages, over page types, and of each type, for every set."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for page in sample.textless:
        scores[page.source][page.page_type].append(0.0)
    for page, table, log_odds in zip(sample.pages, sample.tables, predictions, strict=True):
        scores[page.source][page.page_type].append(f1(page, select(page, table, log_odds)))
    for source, by_type in scores.items():
        means = {kind: fmean(values) for kind, values in sorted(by_type.items())}
        overall = fmean(value for values in by_type.values() for value in values)
        row = "  ".join(f"{kind} {mean:.3f}" for kind, mean in means.items())
        macro = fmean(means.values())
        sys.stdout.write(f"{name}, {source}: F1 {overall:.4f}  macro {macro:.4f}  {row}\n")
    sys.stdout.flush()


def train_models(sample: Sample, jobs: int) -> Models:
    """Models for each fold left out, and for none left out, trained by `jobs` processes."""
    left_out = [None, *range(FOLDS)]
    with ProcessPoolExecutor(jobs, get_context("fork"), _share, (sample,)) as pool:
        ensembles = pool.map(_ensemble, left_out)
        forests = pool.map(_forest, left_out)
        return Models(
            dict(zip(left_out, forests, strict=True)), dict(zip(left_out, ensembles, strict=True))
        )


_shared: list[Sample] = []
"""The sample of a forked process, which is not copied."""


def _share(sample: Sample) -> None:
    _shared[:] = [sample]


def _forest(without: int | None) -> PackedTrees:
    return _shared[0].forest(without)


def _ensemble(without: int | None) -> Ensemble:
    return _shared[0].ensemble(without)


def cross_validate(sample: Sample, models: Models) -> None:
    """Print the scores of models that were not trained on a page's site."""
    nothing = np.zeros(0, np.float32)
    trees, networks, together = ([nothing] * len(sample.pages) for _ in range(3))
    for fold in range(FOLDS):
        forest, ensemble = models.forests[fold].unpack(), models.ensembles[fold]
        for at in sample.pages_of(fold):
            table = sample.tables[at]
            trees[at] = forest.log_odds(table.matrix)
            predictions = ensemble.log_odds(table)
            networks[at] = mean_log_odds(predictions)
            uncertain = is_uncertain(trees[at], table.words)
            together[at] = mean_log_odds([trees[at], *predictions]) if uncertain else trees[at]
    report("trees", sample, trees)
    report("networks", sample, networks)
    report("together", sample, together)


def report_pages(data: Path, source: str, sample: Sample, models: Models) -> None:
    """Print the scores of whole pages, each read with the models that were not trained on its site."""
    by_fold = [
        ContentModel(
            learn_words(sample.pages[at] for at, own in enumerate(sample.folds) if own != fold),
            models.forests[fold].unpack(),
            models.ensembles[fold],
        )
        for fold in range(FOLDS)
    ]
    rows = read_rows(data / source / "dev.jsonl.gz")
    for line in read_by_folds(rows, by_fold, fold_of):
        sys.stdout.write(f"whole pages, {source}: {line}\n")


def train(pages: list[TrainingPage], jobs: int, data: Path, whole: list[str]) -> Arrays:
    """Cross-validate and train on everything; the arrays of the data file."""
    sample = sample_of(pages)
    models = train_models(sample, jobs)
    cross_validate(sample, models)
    for source in whole:
        report_pages(data, source, sample, models)
    lexicon = learn_words(sample.pages)
    return {
        **words_to_arrays("names", lexicon.names),
        **words_to_arrays("words", lexicon.words),
        **trees_to_arrays(models.forests[None]),
        **ensemble_to_arrays(models.ensembles[None]),
    }


def main() -> None:
    """Parse the arguments and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--jobs", type=int, default=JOBS, help="processes that train")
    parser.add_argument("--check", action="store_true", help="only print the table")
    parser.add_argument("--pages", default="", help="sets whose pages are read whole, by folds")
    options = parser.parse_args()
    pages = [page for source in SETS for page in read_pages(options.data, source)]
    arrays = train(pages, options.jobs, options.data, list(filter(None, options.pages.split(","))))
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]  # the stub takes the names for options
    if not options.check:
        TARGET.write_bytes(packed.getvalue())
    sys.stdout.write(f"{len(pages)} pages, {len(packed.getvalue()):,} bytes\n")


if __name__ == "__main__":
    main()
