"""The judgement whether a page answers: its trees and its scale."""

import numpy as np
import pytest

from kindly.read.ranking import answer_model
from kindly.read.ranking.answer_features import ALL_WINDOWS, PageFeature
from kindly.read.ranking.answer_model import AnswerModel, Trees
from kindly.read.ranking.passage_features import Feature

URL = "https://example.com/"
STUMP = Trees(
    roots=np.array([0, 3]),
    columns=np.array([1, 0, 0, 0]),
    thresholds=np.array([0.5, np.inf, np.inf, np.inf], dtype=np.float32),
    lefts=np.array([1, 1, 2, 3]),
    values=np.array([0, -2, 3, 0.25], dtype=np.float32),
    depth=1,
)
"""One tree with a split, and one that is only a leaf."""


@pytest.mark.parametrize(("value", "expected"), [(0.4, -1.75), (0.5, -1.75), (0.6, 3.25)])
def test_trees_add_the_leaves_of_a_row(value: float, expected: float) -> None:
    assert STUMP.log_odds(np.array([9, value], dtype=np.float32)) == expected


def test_other_languages_are_favoured() -> None:
    model = AnswerModel(STUMP, point=1.0, other=2.0, latin=0.5)
    english, spanish, greek = np.zeros((3, len(Feature)), dtype=np.float32)
    english[[Feature.ENGLISH, Feature.LATIN]] = 1
    spanish[Feature.LATIN] = 1

    assert [model.favour(row) for row in (english, spanish, greek)] == [0, 2.5, 2]
    assert model.evidence(greek) == model.trees.log_odds(greek) - 1 + 2


def test_model_fits_the_columns_of_a_row() -> None:
    trees = answer_model.load().trees

    assert int(trees.columns.max()) < len(Feature) + 2 * len(ALL_WINDOWS) + len(PageFeature)
