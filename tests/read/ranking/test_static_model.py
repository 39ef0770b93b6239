from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kindly.errors import EmbeddingsDown
from kindly.read.ranking import static_model
from kindly.read.ranking.static_model import CACHED_LENGTH, TokenCache, Tokens


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


def test_tokens_of_a_word_are_cached_unless_it_is_very_long() -> None:
    asked: list[list[str]] = []

    def encode(words: list[str]) -> list[Tokens]:
        asked.append(words)
        return [(len(word),) for word in words]

    cache, long = TokenCache(encode), "x" * (CACHED_LENGTH + 1)
    assert cache.of(["bee", "bee", long]) == [(3,), (3,), (len(long),)]
    assert cache.of(["bee", long]) == [(3,), (len(long),)]
    assert [sorted(words) for words in asked] == [["bee", long], [long]]
