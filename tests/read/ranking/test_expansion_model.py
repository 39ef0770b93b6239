import numpy as np

from kindly.read.ranking import expansion_model, static_model
from kindly.read.ranking.expansion_model import Expansion

SMALL = Expansion(np.eye(2, 1, dtype=np.float32), np.array([[0, 2]], dtype=np.float32))


def test_vector_moves_as_far_as_the_hidden_layer_is_active() -> None:
    moved = SMALL.expand(np.array([1, 0], dtype=np.float32))
    assert moved.tolist() == [1, 2 * np.tanh(np.float32(1))]


def test_vector_of_another_model_is_unchanged() -> None:
    assert SMALL.expand(np.ones(3)).tolist() == [1, 1, 1]


def test_the_weights_of_the_package_fit_the_static_model() -> None:
    width = static_model.load().table.shape[1]
    assert expansion_model.load().expand(np.ones(width)).shape == (width,)
