"""The LRU cache, by number of values and by their weight; texts that are remembered with it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from kindly.storage.lru import LruCache, RememberedTexts


def test_the_least_recently_used_value_is_evicted_first() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in ("a", "b", "c")] == [1, None, 3]
    assert len(cache) == 2


def test_values_are_bounded_by_their_weight() -> None:
    cache: LruCache[str, str] = LruCache(10, len)
    cache.put("a", "x" * 4)
    cache.put("b", "x" * 4)
    cache.put("c", "x" * 6)
    assert [key in cache for key in ("a", "b", "c")] == [False, True, True]
    assert cache.weight == 10


def test_a_value_heavier_than_the_bound_is_kept_alone() -> None:
    cache: LruCache[str, str] = LruCache(3, len)
    cache.put("a", "x")
    cache.put("b", "x" * 100)
    assert ("a" in cache, cache.get("b")) == (False, "x" * 100)
    cache.put("c", "y")
    assert ("b" in cache, cache.weight) == (False, 1)


def test_a_value_that_is_set_again_counts_once() -> None:
    cache: LruCache[str, str] = LruCache(10, len)
    cache.put("a", "x" * 6)
    cache.put("a", "x" * 3)
    assert (len(cache), cache.weight) == (1, 3)


def test_a_value_that_is_removed_weighs_nothing() -> None:
    cache: LruCache[str, str] = LruCache(10, len)
    cache.put("a", "xx")
    assert cache.pop("a") == "xx"
    assert cache.pop("a") is None
    assert (len(cache), cache.weight) == (0, 0)


def test_a_value_that_may_not_be_evicted_is_kept_beyond_the_bound() -> None:
    busy = {1, 2, 3}
    cache: LruCache[str, int] = LruCache(1, may_evict=lambda value: value not in busy)
    for key, value in (("a", 1), ("b", 2), ("c", 3)):
        cache.put(key, value)
    assert len(cache) == 3
    busy -= {2, 3}
    cache.put("d", 4)
    assert [key in cache for key in "abcd"] == [True, False, False, True]


def test_newest_values_come_first() -> None:
    cache = LruCache[str, int](3)
    for key, value in (("a", 1), ("b", 2), ("c", 3)):
        cache.put(key, value)
    cache.get("a")
    assert list(cache.newest()) == [1, 3, 2]


@dataclass
class Upper:
    """Upper case, and what was asked of it."""

    asked: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, *texts: str) -> str:
        self.asked.append(texts)
        return "".join(texts).upper()


def test_a_text_is_computed_once() -> None:
    upper = Upper()
    remembered = RememberedTexts(upper, 100)
    assert [remembered("a", "b"), remembered("a", "b"), remembered("ab")] == ["AB", "AB", "AB"]
    assert upper.asked == [("a", "b"), ("ab",)]


def test_arguments_and_results_are_bounded_by_their_characters() -> None:
    upper = Upper()
    remembered = RememberedTexts(upper, 50)
    for letter in "abc":
        remembered(letter * 10)
        assert remembered.characters <= 50
    remembered("c" * 10)
    remembered("a" * 10)
    assert upper.asked == [("a" * 10,), ("b" * 10,), ("c" * 10,), ("a" * 10,)]


def test_threads_get_the_results_of_their_own_texts() -> None:
    remembered = RememberedTexts(Upper(), 40)
    texts = [letter * 5 for letter in "abcdefghij"] * 50
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(remembered, texts)) == [text.upper() for text in texts]
    assert remembered.characters <= 40
