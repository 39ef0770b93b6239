"""Train the choice of content and write its data file.

    python -m tools.train_extractor [--data ../shared/data/extract] [--check]

Reads the labelled pages, trains with a fixed seed, prints word F1 by page type of five-fold cross-validation grouped by
site, then trains on all pages and writes `src/kindly/extract/content/content.npz`. `--check` writes nothing. Needs the
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

from kindly.extract.content.block_features import Table, tabulate
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.choose import chances_of, settle
from kindly.extract.content.classify import DATA, blend, has_doubts
from kindly.extract.content.network import Panel
from kindly.extract.content.trees import Trees
from tools.extractor_network import Lesson, panel_to_arrays, train_panel
from tools.extractor_pages import TrainingPage, read_pages
from tools.extractor_trees import Arrays, flatten, trees_to_arrays, words_to_arrays
from tools.extractor_words import learn_words

SETS = {"wcxb": 1.0, "scrapinghub": 0.8, "readability": 0.7, "magic_html": 0.3}
"""What to train on, and how much a page of each set counts."""
PAGE_TYPES = (
    *("article", "collection", "documentation", "forum", "listing", "product", "service"),
)
"""As WCXB, the set that has them, names them."""
TYPED = "wcxb"
FOLDS = 5
SEEDS = (0, 1)
"""Of the networks, one each."""
RARITY = 0.3
"""How much more a page of a rare type counts for the networks: the power of how many times rarer it is than most."""
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
    """Pages with what is to be learned from each."""

    pages: list[TrainingPage]
    textless: list[TrainingPage]
    """Pages whose truth is not in their text at all."""
    folds: list[int]
    labels: list[Floats]
    weights: list[Floats]
    tables: list[Table]

    def forest(self, without: int | None = None) -> Trees:
        """Trees of all folds but one, or of all."""
        chosen = self._all_but(without)
        weights = np.concatenate([self.weights[at] for at in chosen])
        data = lgb.Dataset(
            np.concatenate([self.tables[at].matrix for at in chosen]),
            np.concatenate([self.labels[at] for at in chosen]),
            weight=weights / weights.mean(),
        )
        return flatten(lgb.train(PARAMETERS, data, ROUNDS))

    def panel(self, without: int | None = None) -> Panel:
        """Networks of all folds but one, or of all; pages of rare types count more."""
        types = [type_of(page) for page in self.pages]
        rarity = rarities(types)
        lessons = [
            Lesson(
                self.tables[at], self.labels[at], self.weights[at] * rarity[types[at]], types[at]
            )
            for at in self._all_but(without)
        ]
        return train_panel(lessons, SEEDS)

    def at_home(self, fold: int) -> list[int]:
        """The pages of a fold."""
        return [at for at, home in enumerate(self.folds) if home == fold]

    def _all_but(self, fold: int | None) -> list[int]:
        return [at for at, home in enumerate(self.folds) if home != fold]


def type_of(page: TrainingPage) -> int:
    """The number of a page's type, -1 where its set does not tell types."""
    return PAGE_TYPES.index(page.page_type) if page.source == TYPED else -1


def fold_of(site: str) -> int:
    """The fold of a site, the same in every run."""
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:4], "big") % FOLDS


def rarities(types: list[int]) -> dict[int, float]:
    """How much a page of each type counts; of no known type as much as one of the commonest."""
    counts = Counter(kind for kind in types if kind >= 0)
    most = max(counts.values())
    return {-1: 1.0} | {kind: (most / count) ** RARITY for kind, count in counts.items()}


def weigh(page: TrainingPage) -> Floats:
    """What a mistake in each block costs, as a part of the page's word F1."""
    sizes = np.array([len(tokens) for tokens in page.tokens], np.float32)
    weights = np.minimum(np.minimum(sizes, 300) / max(page.truth.total(), 50) + 0.0005, 0.5)
    scale = SETS[page.source] / max(1.0, float(weights.sum()) / 3)
    return (weights * scale).astype(np.float32)


def sample_of(found: list[TrainingPage]) -> Sample:
    """Pages made ready, each with the word list that was made without its fold."""
    pages = [page for page in found if page.blocks.texts]
    folds = [fold_of(page.site) for page in pages]
    lexicons = [
        learn_words(page for page, home in zip(pages, folds, strict=True) if home != fold)
        for fold in range(FOLDS)
    ]
    return Sample(
        pages,
        [page for page in found if not page.blocks.texts],
        folds,
        [np.array(page.labels, np.float32) for page in pages],
        [weigh(page) for page in pages],
        [
            tabulate(page.blocks, page.hints, lexicons[fold])
            for page, fold in zip(pages, folds, strict=True)
        ],
    )


def f1(page: TrainingPage, keep: NDArray[np.bool_]) -> float:
    """Word F1 of the kept blocks."""
    words: Counter[str] = Counter()
    for tokens, kept in zip(page.tokens, keep, strict=True):
        if kept:
            words.update(tokens)
    return 2 * (words & page.truth).total() / max(1, words.total() + page.truth.total())


def report(name: str, sample: Sample, opinions: list[Floats]) -> None:
    """Print the mean F1 over pages, over page types, and of each type, for every set."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for page in sample.textless:
        scores[page.source][page.page_type].append(0.0)
    for page, table, odds in zip(sample.pages, sample.tables, opinions, strict=True):
        keep = settle(page.blocks, chances_of(odds), table.words)
        scores[page.source][page.page_type].append(f1(page, keep))
    for source, by_type in scores.items():
        means = {kind: fmean(values) for kind, values in sorted(by_type.items())}
        overall = fmean(value for values in by_type.values() for value in values)
        row = "  ".join(f"{kind} {mean:.3f}" for kind, mean in means.items())
        macro = fmean(means.values())
        sys.stdout.write(f"{name}, {source}: F1 {overall:.4f}  macro {macro:.4f}  {row}\n")
    sys.stdout.flush()


def cross_validate(sample: Sample) -> None:
    """Print what models that have not seen a page's site make of it."""
    nothing = np.zeros(0, np.float32)
    trees, networks, together = ([nothing] * len(sample.pages) for _ in range(3))
    for fold in range(FOLDS):
        forest, panel = sample.forest(fold).grown(), sample.panel(fold)
        for at in sample.at_home(fold):
            table = sample.tables[at]
            trees[at] = forest.odds(table.matrix)
            opinions = panel.odds(table)
            networks[at] = blend(opinions)
            doubts = has_doubts(trees[at], table.words)
            together[at] = blend([trees[at], *opinions]) if doubts else trees[at]
    report("trees", sample, trees)
    report("networks", sample, networks)
    report("together", sample, together)


def train(pages: list[TrainingPage]) -> Arrays:
    """Cross-validate, then train on everything; the arrays of the data file."""
    sample = sample_of(pages)
    cross_validate(sample)
    lexicon = learn_words(sample.pages)
    return {
        **words_to_arrays("names", lexicon.names),
        **words_to_arrays("words", lexicon.words),
        **trees_to_arrays(sample.forest()),
        **panel_to_arrays(sample.panel()),
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
