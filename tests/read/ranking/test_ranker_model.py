import numpy as np

from kindly.read.ranking import ranker_model
from kindly.read.ranking.passage_features import Feature

FEATURES = np.zeros((3, len(Feature)), dtype=np.float32)
FEATURES[:, 0] = (1, 3, 2)


def test_relative_features_have_their_distance_to_the_maximum() -> None:
    both = ranker_model.relative(FEATURES)
    assert both.shape == (3, 2 * len(Feature))
    assert both[:, 0].tolist() == [1, 3, 2]
    assert both[:, len(Feature)].tolist() == [-2, 0, -1]


def test_the_weights_of_the_package_fit_the_features() -> None:
    weights = ranker_model.load()
    scores = weights.scores(FEATURES)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
