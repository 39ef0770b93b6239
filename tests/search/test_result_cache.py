"""Which results are cached, for how long, and which searches are shared."""

import anyio
import pytest

from kindly.errors import ProviderFailed
from kindly.models import Hits, Query
from kindly.search.result_cache import SearchCache
from tests.support.fakes import FakeClock
from tests.support.routing import hits_at

pytestmark = pytest.mark.anyio

TEA = Query("tea")


class Searches:
    """Counts searches; each answers with its number, or fails."""

    def __init__(self, query: Query = TEA, *, empty: bool = False, fails: bool = False) -> None:
        self.query = query
        self.empty = empty
        self.fails = fails
        self.count = 0
        self.let_go = anyio.Event()
        self.let_go.set()

    async def __call__(self) -> Hits:
        self.count += 1
        await self.let_go.wait()
        if self.fails:
            raise ProviderFailed("It failed.", provider="fake")
        hits = () if self.empty else hits_at(f"s{self.count}.example")
        return Hits(self.query, hits, "fake", took_ms=80)


async def test_a_second_search_is_answered_from_the_cache_and_says_so() -> None:
    cache, searches = SearchCache(3600, FakeClock()), Searches()
    first = await cache(TEA, searches)
    again = await cache(TEA, searches)
    assert (first.cached, again.cached, again.took_ms) == (False, True, 0)
    assert again.hits == first.hits
    assert searches.count == 1


async def test_hits_are_cached_for_their_time_to_live() -> None:
    clock = FakeClock()
    cache, searches = SearchCache(3600, clock), Searches()
    await cache(TEA, searches)
    clock.advance(3599)
    assert (await cache(TEA, searches)).cached
    clock.advance(1)
    assert not (await cache(TEA, searches)).cached
    assert (await cache(TEA, searches)).cached
    assert searches.count == 2


async def test_a_time_to_live_of_zero_caches_nothing() -> None:
    cache, searches = SearchCache(0, FakeClock()), Searches()
    await cache(TEA, searches)
    assert not (await cache(TEA, searches)).cached
    assert searches.count == 2


@pytest.mark.parametrize(
    "other",
    [
        Query("Tea"),
        Query("tea", count=4),
        Query("tea", site="a.example"),
        Query("tea", time_range="day"),
        Query("tea", language="de"),
        Query("tea", region="DE"),
        Query("tea", safe_search="off"),
        Query("tea", category="news"),
        Query("tea", page=2),
    ],
    ids=repr,
)
async def test_every_part_of_a_query_counts(other: Query) -> None:
    cache, searches = SearchCache(3600, FakeClock()), Searches(other)
    await cache(TEA, Searches())
    assert not (await cache(other, searches)).cached


async def test_an_empty_result_is_not_cached() -> None:
    cache, searches = SearchCache(3600, FakeClock()), Searches(empty=True)
    await cache(TEA, searches)
    await cache(TEA, searches)
    assert searches.count == 2


async def test_a_failure_is_not_cached() -> None:
    cache, searches = SearchCache(3600, FakeClock()), Searches(fails=True)
    with pytest.raises(ProviderFailed):
        await cache(TEA, searches)
    searches.fails = False
    assert not (await cache(TEA, searches)).cached


async def test_the_least_recently_used_search_is_evicted_first() -> None:
    cache = SearchCache(3600, FakeClock(), max_searches=2)
    one, two, three = Query("1"), Query("2"), Query("3")
    await cache(one, Searches(one))
    await cache(two, Searches(two))
    await cache(one, Searches(one))
    await cache(three, Searches(three))
    assert (await cache(one, Searches(one))).cached
    assert not (await cache(two, Searches(two))).cached


async def test_identical_concurrent_searches_are_one() -> None:
    cache, searches, answers = SearchCache(0, FakeClock()), Searches(), list[Hits]()
    searches.let_go = anyio.Event()

    async def call() -> None:
        answers.append(await cache(TEA, searches))

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            searches.let_go.set()
    assert searches.count == 1
    assert len(answers) == 4
    assert len(set(map(id, answers))) == 1
