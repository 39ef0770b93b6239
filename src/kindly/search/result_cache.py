"""Results are kept for a while, and identical searches under way are one search. In memory only; failures never.

A search that found nothing is not kept either: the same question may be answered a moment later.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from kindly.concurrency.single_flight import SingleFlight
from kindly.models import Hits, Query

MAX_SEARCHES = 256
"""The longest unused is forgotten first."""


@dataclass(slots=True)
class SearchCache:
    """Hits by their whole query."""

    ttl_s: float
    """Zero keeps nothing."""
    clock: Callable[[], float]
    max_searches: int = MAX_SEARCHES
    _kept: OrderedDict[Query, tuple[float, Hits]] = field(default_factory=OrderedDict, init=False)
    _flights: SingleFlight[Hits] = field(default_factory=SingleFlight, init=False)

    async def __call__(self, query: Query, search: Callable[[], Awaitable[Hits]]) -> Hits:
        """The hits as they are kept, or as `search` brings them; raises what it raises."""
        kept = self._fresh(query)
        return kept if kept is not None else await self._flights(query, lambda: self._keep(search))

    def _fresh(self, query: Query) -> Hits | None:
        at, hits = self._kept.get(query, (0.0, None))
        if hits is None:
            return None
        if self.clock() - at >= self.ttl_s:
            del self._kept[query]
            return None
        self._kept.move_to_end(query)
        return replace(hits, cached=True, took_ms=0)

    async def _keep(self, search: Callable[[], Awaitable[Hits]]) -> Hits:
        hits = await search()
        if self.ttl_s > 0 and hits.hits:
            self._kept[hits.query] = (self.clock(), hits)
            if len(self._kept) > self.max_searches:
                self._kept.popitem(last=False)
        return hits
