import pytest

from kindly.extract.content.block_features import compute_features
from kindly.extract.content.classify import (
    SMOOTHING,
    is_uncertain,
    load_model,
    mean_log_odds,
    smooth,
)
from kindly.extract.content.lexicon import Lexicon
from kindly.extract.content.page_kind import Hints
from tests.support.html_pages import blocks_of, floats


def test_shipped_model_has_words_trees_and_networks() -> None:
    model = load_model()
    assert model.lexicon.names["sidebar"] < 0 < model.lexicon.names["prose"]
    assert model.forest.tree_count > 10
    assert len(model.ensemble.networks) == 2
    assert load_model() is model


def test_page_is_uncertain_unless_the_expected_f1_is_high() -> None:
    words = floats(100, 100)
    assert not is_uncertain(floats(9, -9), words)
    assert is_uncertain(floats(1, -1), words)


def test_predictions_are_averaged_as_log_odds() -> None:
    assert mean_log_odds([floats(1, -2), floats(3, 0)]).tolist() == [2, -1]


def test_page_of_a_single_block_is_kept() -> None:
    keep = load_model().keep(blocks_of("<p>Alone.</p>"), Hints())
    assert keep.tolist() == [True]


def test_similar_blocks_and_items_of_a_grid_move_towards_their_mean() -> None:
    blocks = blocks_of("<ul><li>a</li><li>b</li><li>c</li></ul><p>d</p>")
    table = compute_features(blocks, Hints(), Lexicon())
    smoothed = smooth(floats(3, 0, 0, -9), table)
    step = SMOOTHING * 2
    assert smoothed.tolist() == pytest.approx([3 - 2 * step, step, step, -9])
