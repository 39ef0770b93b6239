import numpy as np
import pytest

from kindly.read.embedders.local.embedder import LocalEmbedder

pytestmark = pytest.mark.anyio


async def test_rows_are_of_length_one_and_in_order() -> None:
    texts = ["Bees dance.", "The stock market fell.", "Bees dance."]

    rows = await LocalEmbedder().embed(texts)

    assert rows.shape == (3, 256)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(rows[0], rows[2])
    assert float(rows[0] @ rows[1]) < 0.9


async def test_like_texts_are_nearer_than_unlike_ones() -> None:
    question, near, far = await LocalEmbedder().embed(
        ["How do insects talk?", "Bees communicate by dancing.", "Interest rates rose in May."]
    )

    assert question @ near > question @ far


@pytest.mark.parametrize("texts", [[], [""], ["\ud800"]], ids=["none", "empty", "surrogate"])
async def test_odd_texts_have_rows_all_the_same(texts: list[str]) -> None:
    rows = await LocalEmbedder().embed(texts)

    assert rows.shape == (len(texts), 256)
    assert np.isfinite(rows).all()


async def test_name_tells_the_model() -> None:
    assert LocalEmbedder().name == "wordllama-l2-256"
