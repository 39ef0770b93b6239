"""The weights in the package fit the features and prefer what they should."""

import numpy as np

from kindly.read.pages.page_features import PageColumn
from kindly.read.pages.page_model import load
from kindly.read.ranking.ranker_model import relative


def test_the_weights_have_two_inputs_for_each_column() -> None:
    weights = load()
    assert (
        weights.mean.shape == weights.scale.shape == weights.linear.shape == (2 * len(PageColumn),)
    )
    assert weights.hidden.shape == (2 * len(PageColumn), len(weights.out))


def test_features_are_compared_with_the_best_of_all_pages() -> None:
    rows = np.array([[1.0, 0.0], [0.5, 2.0]])
    assert relative(rows).tolist() == [[1.0, 0.0, 0.0, -2.0], [0.5, 2.0, -0.5, 0.0]]


def test_of_equal_passages_the_page_with_the_words_in_its_title_wins() -> None:
    rows = np.zeros((2, len(PageColumn)), dtype=np.float32)
    for column in (PageColumn.TITLE, PageColumn.TITLE_FIT, PageColumn.NAME, PageColumn.NAME_FIT):
        rows[1, column] = 0.8
    scores = load().scores(rows)
    assert scores[1] > scores[0]


def test_of_equal_pages_release_notes_come_last() -> None:
    rows = np.zeros((2, len(PageColumn)), dtype=np.float32)
    rows[0, PageColumn.RELEASES] = 1
    scores = load().scores(rows)
    assert scores[1] > scores[0]
