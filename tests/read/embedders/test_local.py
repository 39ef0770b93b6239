from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kindly.errors import EmbeddingsDown
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.ranking import static_model

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


@pytest.mark.parametrize(
    "text",
    [
        "Bees dance to tell the others where the flowers are.",
        "# Tea\n\nPour  water,   wait.\n",
        "def f():\n    return {'a': 1}\n\n\tx = 2\r\n",
        "蜜蜂 跳舞 🐝 naïve Ünïcödé สวัสดี",
        "\n leading and trailing ",
    ],
    ids=["prose", "blanks and lines", "code", "scripts", "ends"],
)
def test_words_looked_up_one_by_one_give_the_vector_of_the_whole_text(text: str) -> None:
    model = static_model.load()
    whole = model.table[model.tokenizer.encode(text, add_special_tokens=False).ids]
    mean = whole.mean(axis=0, dtype=np.float32)

    for _ in ("first", "again, from memory"):
        assert np.allclose(model.embed([text])[0], mean / np.linalg.norm(mean), atol=1e-5)


async def test_name_tells_the_model() -> None:
    assert LocalEmbedder().name == "wordllama-l2-256"


def test_words_that_say_more_have_longer_vectors() -> None:
    lengths = np.linalg.norm(static_model.load().words(["the", "agreement", "huguenot"]), axis=1)

    assert lengths[0] < lengths[1] < lengths[2]


def test_no_words_have_no_vectors() -> None:
    assert static_model.load().words([]).shape == (0, 256)


def test_threads_that_load_at_once_share_one_model() -> None:
    static_model.load_from.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        models = list(threads.map(lambda _: static_model.load(), range(8)))

    assert len(set(map(id, models))) == 1
    assert static_model.load_from.cache_info().misses == 1


def test_incomplete_package_is_reported() -> None:
    with pytest.raises(EmbeddingsDown):
        static_model.load_from("no_such_package")
