"""Vectors of different models are not mixed."""

import pytest

from kindly.errors import ModelMismatch
from kindly.read.model_check import ensure_same_model
from kindly.read.store import EmbeddingModel

STORED = EmbeddingModel("small", 8)


@pytest.mark.parametrize("stored", [None, STORED], ids=["no vectors yet", "the same"])
def test_the_same_model_is_accepted(stored: EmbeddingModel | None) -> None:
    ensure_same_model(stored, EmbeddingModel("small", 8))


@pytest.mark.parametrize(
    "given", [EmbeddingModel("large", 8), EmbeddingModel("small", 12)], ids=["name", "dimension"]
)
def test_another_one_is_refused_with_the_command_that_rebuilds(given: EmbeddingModel) -> None:
    with pytest.raises(ModelMismatch, match="kindly library rebuild") as caught:
        ensure_same_model(STORED, given)
    assert f"{given.name} ({given.dimension})" in caught.value.detail
