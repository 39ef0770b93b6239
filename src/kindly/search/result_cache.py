"""An LRU cache of search results with a time to live, and single flight for identical searches. In memory only.

Failures are not cached, nor is an empty result: the same query may have an answer a moment later.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from kindly.clock import Monotonic
from kindly.concurrency.single_flight import SingleFlight
from kindly.models import Hits, Query
from kindly.storage.lru import LruCache

MAX_SEARCHES = 256


class SearchCache:
    """Hits by query, filters included. A time to live of zero caches nothing."""

    def __init__(
        self, ttl_s: float, monotonic: Monotonic, max_searches: int = MAX_SEARCHES
    ) -> None:
        self._ttl_s = ttl_s
        self._monotonic = monotonic
        self._cached: LruCache[Query, tuple[float, Hits]] = LruCache(max_searches)
        self._flights: SingleFlight[Hits] = SingleFlight()

    async def __call__(self, query: Query, search: Callable[[], Awaitable[Hits]]) -> Hits:
        """The cached hits, or those that `search` returns; raises what it raises."""
        hits = self._fresh(query)
        return hits if hits is not None else await self._flights(query, lambda: self._run(search))

    def _fresh(self, query: Query) -> Hits | None:
        cached_at, hits = self._cached.get(query) or (0.0, None)
        if hits is None:
            return None
        if self._monotonic() - cached_at >= self._ttl_s:
            self._cached.pop(query)
            return None
        return replace(hits, cached=True, took_ms=0)

    async def _run(self, search: Callable[[], Awaitable[Hits]]) -> Hits:
        hits = await search()
        if self._ttl_s > 0 and hits.hits:
            self._cached.put(hits.query, (self._monotonic(), hits))
        return hits
