import numpy as np

from kindly.read.chunk import split
from kindly.read.ranking import expansion_model, rerank_model
from kindly.read.ranking.candidate_features import Detail
from kindly.read.ranking.decision_trees import Trees
from kindly.read.ranking.passage_features import Feature, features
from kindly.read.ranking.rank import Index
from kindly.read.ranking.rerank_model import Candidates, RerankModel, best_windows, candidates

LEAF = Trees(
    roots=np.array([0]),
    columns=np.array([0]),
    thresholds=np.array([0.5, np.inf, np.inf], dtype=np.float32),
    lefts=np.array([1, 1, 2]),
    values=np.array([0, 0, 9], dtype=np.float32),
    depth=1,
)
PAGE = "\n\n".join(
    f"Bee number {number} flew over the meadow near the hive." for number in range(60)
)


def test_candidates_are_ordered_again_and_all_others_are_below() -> None:
    held = Candidates(np.array([1, 2]), np.array([[0], [1]], dtype=np.float32))
    scores = RerankModel(LEAF, 1.0).scores(held, np.array([0.0, 3.0, 2.0]))
    assert np.argsort(-scores).tolist() == [2, 1, 0]


def test_candidates_are_better_than_their_neighbours() -> None:
    index = Index(split(PAGE, "https://example.com/"), None)
    terms = index.terms_of("Which bee flew over the meadow?")
    assert terms is not None
    first = np.zeros(len(index.windows()))
    first[[3, 4, 9]] = (2, 1, 3)
    assert best_windows(terms, first)[:2].tolist() == [9, 3]


def test_rows_fit_the_trees_of_the_package() -> None:
    index = Index(split(PAGE, "https://example.com/"), None)
    terms = index.terms_of("Which bee flew over the meadow?")
    assert terms is not None
    found = features(terms)
    held = candidates(terms, found, found.sum(axis=1), expansion_model.load())
    assert held.rows.shape[1] == 2 * (len(Feature) + len(Detail)) + 2
    assert int(rerank_model.load().trees.columns.max()) < held.rows.shape[1]
