"""LRU caches in memory, bounded by the total weight of their values: their number, characters or bytes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def _one(_: object) -> int:
    return 1


def _always(_: object) -> bool:
    return True


class LruCache(Generic[Key, Value]):
    """The most recently used values. The newest is always kept, even if it alone exceeds the bound.

    A value for which `may_evict` is false is kept, too; the cache exceeds its bound as long as it must.
    """

    def __init__(
        self,
        max_weight: int,
        weigh: Callable[[Value], int] = _one,
        may_evict: Callable[[Value], bool] = _always,
    ) -> None:
        self._max_weight = max_weight
        self._weigh = weigh
        self._may_evict = may_evict
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self.weight = 0
        """Of all values together."""

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """The value, which becomes the most recently used; None if it is not here."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def newest(self) -> Iterator[Value]:
        """The values, the most recently used first."""
        return reversed(self._values.values())

    def put(self, key: Key, value: Value) -> None:
        """Set a value, then evict the least recently used ones until the rest is within the bound."""
        self.pop(key)
        self._values[key] = value
        self.weight += self._weigh(value)
        while self.weight > self._max_weight and (oldest := self._evictable()) != key:
            self.pop(oldest)

    def _evictable(self) -> Key:
        """The least recently used key whose value may be evicted; else the newest."""
        newest = next(reversed(self._values))
        return next((key for key, value in self._values.items() if self._may_evict(value)), newest)

    def pop(self, key: Key) -> Value | None:
        """Remove a value and return it."""
        value = self._values.pop(key, None)
        if value is not None:
            self.weight -= self._weigh(value)
        return value


class RememberedTexts:
    """A pure function from texts to a text whose recent results are kept, up to so many characters with their texts.

    Threads may share it.
    """

    def __init__(self, function: Callable[..., str], max_characters: int) -> None:
        self._function = function
        self._lock = Lock()
        self._results = LruCache[tuple[str, ...], tuple[str, int]](max_characters, _characters)

    def __call__(self, *texts: str) -> str:
        """The function's result for these texts."""
        with self._lock:
            known = self._results.get(texts)
        if known is not None:
            return known[0]
        result = self._function(*texts)
        with self._lock:
            self._results.put(texts, (result, sum(map(len, texts)) + len(result)))
        return result

    @property
    def characters(self) -> int:
        """Of all arguments and results that are kept."""
        return self._results.weight


def _characters(entry: tuple[str, int]) -> int:
    return entry[1]
