import math

import numpy as np
import pytest

from kindly.read.ranking import ranker_model
from kindly.read.ranking.passage_features import Feature

FEATURES = np.zeros((3, len(Feature)), dtype=np.float32)
FEATURES[:, 0] = (1, 3, 2)


@pytest.mark.parametrize("evidence", [-1e9, -3.0, 0.0, 3.0, 1e9])
def test_scale_rises_with_evidence_and_is_the_threshold_at_zero(evidence: float) -> None:
    assert 0 < ranker_model.on_scale(evidence) <= 1
    assert (ranker_model.on_scale(evidence) >= ranker_model.THRESHOLD - 1e-9) is (evidence >= 0)


def test_relative_features_have_their_distance_to_the_maximum() -> None:
    both = ranker_model.relative(FEATURES)
    assert both.shape == (3, 2 * len(Feature))
    assert both[:, 0].tolist() == [1, 3, 2]
    assert both[:, len(Feature)].tolist() == [-2, 0, -1]


@pytest.mark.parametrize("english", [0.0, 1.0])
def test_the_summary_has_the_best_window_maxima_means_and_size(english: float) -> None:
    features = FEATURES.copy()
    features[:, Feature.ENGLISH] = english
    width = len(Feature)
    whole = ranker_model.summary(features, np.array([0.1, 0.2, 0.9]))
    page, other = np.split(whole, 2)
    assert (page[0], page[width], page[2 * width]) == (2, 3, 2)
    assert page[-1] == pytest.approx(math.log(3))
    assert np.array_equal(other, page * (1 - english))


def test_the_weights_of_the_package_fit_the_features() -> None:
    weights = ranker_model.load()
    scores = weights.scores(FEATURES)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    assert math.isfinite(weights.evidence(FEATURES, scores))
