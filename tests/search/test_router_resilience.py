"""The router in virtual time: circuit breakers, rate limits, deadlines, batches, restarts."""

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    PoolExhausted,
    ProviderAuth,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderTimeout,
    SearchError,
)
from kindly.models import Hits, ProviderResults, Query
from kindly.redact import Redactor
from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.provider import Pace, SearchProvider
from kindly.search.router import Router, RouterSettings, build_router
from kindly.storage.state import State
from tests.support.fakes import FakeProvider
from tests.support.memory_state import MemoryState
from tests.support.routing import HINTS, VIRTUAL, SlowProvider, entry, hits_at, virtual_clock

pytestmark = pytest.mark.anyio

NEVER = 1e6
QUERY = Query("title", count=5)


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return VIRTUAL


def router(
    *providers: SearchProvider,
    parallel: int = 1,
    concurrency: int = 5,
    pace: Pace | None = None,
    state: State | None = None,
    scraped: bool = False,
    queues: bool = False,
) -> Router:
    return build_router(
        [entry(each, pace=pace or Pace(1000, 1), scraped=scraped) for each in providers],
        clock=virtual_clock(),
        state=state or MemoryState(),
        hints=HINTS,
        redactor=Redactor.of(()),
        settings=RouterSettings(parallel, cache_ttl_s=0, concurrency=concurrency, queues=queues),
    )


def down(name: str) -> ProviderFailed:
    return ProviderFailed("It failed.", provider=name, status=503)


def ok(name: str) -> FakeProvider:
    return FakeProvider(name, [hits_at(f"{name}.example", provider=name)])


async def search(over: Router, query: Query = QUERY) -> Hits:
    return await over.search(query, Deadline.after(30))


async def error_of(over: Router) -> SearchError:
    with pytest.raises(SearchError) as caught:
        await search(over)
    return caught.value


async def test_with_one_of_two_providers_failing_no_search_fails_and_the_failing_one_is_not_called() -> (
    None
):
    first, second = FakeProvider("first", [down("first")]), ok("second")
    over = router(first, second)
    for number in range(20):
        hits = await search(over)
        assert hits.provider == "second"
        assert len(first.queries) == min(number + 1, 3)
    assert hits.why == "first is paused after 3 failures"
    assert hits.failed == ()


async def test_a_trial_call_is_made_every_thirty_seconds_until_it_succeeds() -> None:
    first = FakeProvider("first", [*[down("first")] * 5, hits_at("first.example")])
    over = router(first, ok("second"))
    answered = []
    for _ in range(40):
        answered.append((await search(over)).provider)
        await anyio.sleep(5)
    assert len(first.queries) == 3 + 2 + answered.count("first")
    assert answered == ["second"] * (len(answered) - answered.count("first")) + ["first"] * (
        answered.count("first")
    )
    assert over.stats.snapshot()[0].health is BreakerHealth.CLOSED


async def test_only_one_search_at_a_time_makes_the_trial_call() -> None:
    first = SlowProvider("first", [(0, down("first"))] * 3 + [(2, hits_at("first.example"))])
    over = router(first, ok("second"))
    for _ in range(3):
        await search(over)
    await anyio.sleep(30)
    outcomes = await over.search_all([Query(f"title {n}") for n in range(5)], Deadline.after(30))
    assert len(first.called_at) == 4
    assert sorted(hits.provider for hits in outcomes if isinstance(hits, Hits)) == [
        "first",
        *["second"] * 4,
    ]


@pytest.mark.parametrize(
    "error",
    [
        ProviderAuth("No.", provider="first", status=401),
        ProviderRateLimited("Wait.", provider="first", status=429),
    ],
    ids=["auth-does-not-count", "429-counts"],
)
async def test_only_failures_that_another_provider_may_avoid_open_the_breaker(
    error: SearchError,
) -> None:
    over = router(FakeProvider("first", [error]), ok("second"))
    for _ in range(5):
        await over.search_all([QUERY], Deadline.after(30))
    health = over.stats.snapshot()[0].health
    assert health is (BreakerHealth.OPEN if error.try_next else BreakerHealth.CLOSED)


async def test_with_all_breakers_open_the_provider_that_is_due_first_is_called_anyway() -> None:
    first = FakeProvider("first", [down("first")])
    second = FakeProvider("second", [*[down("second")] * 4, hits_at("second.example")])
    over = router(first, second)
    for _ in range(3):
        await error_of(over)
    asked = len(first.queries)
    open_s = [provider.breaker.open_s for provider in over.providers]
    assert open_s[0] > open_s[1] > 0
    hits = await search(over)
    assert (hits.provider, hits.why) == ("second", "first is paused after 3 failures")
    assert len(first.queries) == asked


async def test_with_all_breakers_open_and_failing_the_error_is_a_real_one() -> None:
    over = router(FakeProvider("first", [down("first")]), FakeProvider("second", [down("second")]))
    for _ in range(3):
        await error_of(over)
    error = await error_of(over)
    assert type(error) is ProviderFailed
    assert error.provider == "second"
    assert "first is paused after 3 failures" in str(error)


async def test_a_single_provider_is_always_called() -> None:
    only = FakeProvider("only", [*[down("only")] * 10, hits_at("only.example")])
    over = router(only)
    for _ in range(5):
        await error_of(over)
    assert (await search(over)).why == "only one configured"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("parallel", [1, 3])
async def test_with_every_provider_hanging_the_error_comes_within_ten_seconds(
    count: int, parallel: int
) -> None:
    hanging = [SlowProvider(f"p{n}", [(NEVER, ())]) for n in range(count)]
    over, began = router(*hanging, parallel=parallel), anyio.current_time()
    error = await error_of(over)
    assert anyio.current_time() - began < 10
    assert (type(error), error.provider) == (ProviderTimeout, "p0")
    assert all(provider.called_at and provider.cancelled for provider in hanging)
    for provider in hanging[1:]:
        assert f"{provider.name} (timeout)" in str(error)


async def test_a_timeout_after_very_little_time_does_not_count_against_the_provider() -> None:
    over = router(SlowProvider("only", [(NEVER, ())]))
    for _ in range(4):
        with pytest.raises(ProviderTimeout):
            await over.search(QUERY, Deadline.after(0.2))
    assert over.stats.snapshot()[0].health is BreakerHealth.CLOSED


async def test_concurrent_searches_keep_to_the_rate_limit() -> None:
    only = SlowProvider("only", [(0, hits_at("only.example"))])
    over = router(only, pace=Pace(1, 1))
    began = anyio.current_time()
    outcomes = await over.search_all([Query(f"title {n}") for n in range(5)], Deadline.after(30))
    assert all(isinstance(outcome, Hits) for outcome in outcomes)
    assert [at - began for at in only.called_at] == pytest.approx([0, 1, 2, 3, 4], abs=0.05)


async def test_a_search_that_would_queue_too_long_goes_to_the_next_provider() -> None:
    first, second = ok("first"), ok("second")
    over = router(first, second, pace=Pace(1, 60))
    assert (await search(over)).provider == "first"
    hits = await search(over)
    assert (hits.provider, hits.why) == ("second", "first failed (rate limit)")
    assert over.stats.snapshot()[0].health is BreakerHealth.CLOSED
    error = await error_of(over)
    assert type(error) is ProviderRateLimited
    assert error.retry_after_s == pytest.approx(60, abs=1)
    assert (len(first.queries), len(second.queries)) == (1, 1)


async def test_a_retry_that_the_rate_limit_does_not_allow_leaves_the_first_error() -> None:
    only = FakeProvider("only", [down("only")])
    assert type(await error_of(router(only, pace=Pace(1, 60)))) is ProviderFailed
    assert len(only.queries) == 1


async def test_a_retry_that_meets_a_rate_limit_reports_it() -> None:
    limited = ProviderRateLimited("Wait.", provider="only", status=429)
    assert await error_of(router(FakeProvider("only", [down("only"), limited]))) is limited


async def test_retry_after_is_obeyed() -> None:
    limited = ProviderRateLimited("Wait.", provider="first", status=429, retry_after_s=60)
    first = FakeProvider("first", [limited, hits_at("first.example")])
    over = router(first, ok("second"))
    for _ in range(10):
        assert (await search(over)).provider == "second"
    assert len(first.queries) == 1
    await anyio.sleep(60)
    assert (await search(over)).provider == "first"


async def test_unrelated_results_of_a_scraped_provider_count_as_a_block() -> None:
    unrelated = hits_at("a.invalid", "b.invalid", "c.invalid")
    over = router(FakeProvider("first", [unrelated]), scraped=True)
    with pytest.raises(ProviderBlocked) as caught:
        await search(over, Query("kettle"))
    assert caught.value.provider == "first"
    hits = await search(router(FakeProvider("first", [unrelated])), Query("kettle"))
    assert len(hits.hits) == 3


async def test_the_error_of_a_pool_keeps_the_attempted_instances() -> None:
    spent = PoolExhausted("None.", provider="first", attempted=("https://i.example",))
    over = router(FakeProvider("first", [spent]), FakeProvider("second", [down("second")]))
    error = await error_of(over)
    assert isinstance(error, PoolExhausted)
    assert error.attempted == ("https://i.example",)
    assert "second (HTTP 503)" in error.detail


async def test_after_a_cancelled_trial_the_next_search_tries() -> None:
    first = SlowProvider(
        "first", [(0, down("first"))] * 3 + [(NEVER, ()), (0, hits_at("x.example"))]
    )
    over = router(first, ok("second"))
    for _ in range(3):
        await search(over)
    await anyio.sleep(30)
    with anyio.move_on_after(1):
        await search(over)
    assert (await search(over)).provider == "first"


async def test_a_batch_keeps_its_order_and_its_concurrency_limit_and_survives_failures() -> None:
    now, most = 0, 0

    class Counting(FakeProvider):
        async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
            nonlocal now, most
            now, most = now + 1, max(most, now + 1)
            await anyio.sleep(float(query.text))
            now -= 1
            if query.text == "3":
                raise ProviderAuth("No.", provider="only", status=401)
            return await super().search(query, deadline)

    only = Counting("only", [hits_at("only.example")])
    queries = [Query(str(n)) for n in (5, 1, 3, 2, 4)]
    outcomes = await router(only, concurrency=2).search_all(queries, Deadline.after(60))
    assert most == 2
    assert [
        outcome.query if isinstance(outcome, Hits) else type(outcome) for outcome in outcomes
    ] == [queries[0], queries[1], ProviderAuth, queries[3], queries[4]]


async def test_empty_batch_is_an_empty_list() -> None:
    assert await router(ok("only")).search_all([], Deadline.after(5)) == []


async def test_identical_queries_of_a_batch_are_searched_once() -> None:
    only = SlowProvider("only", [(1, hits_at("only.example"))])
    outcomes = await router(only).search_all([QUERY] * 4, Deadline.after(30))
    assert len(outcomes) == 4
    assert len(only.called_at) == 1


async def test_open_breakers_and_counts_survive_a_restart() -> None:
    state, first = MemoryState(), FakeProvider("first", [down("first")])
    before = router(first, ok("second"), state=state)
    await before.open()
    for _ in range(4):
        await search(before)
    await before.aclose()
    await anyio.sleep(10)
    after = router(first, ok("second"), state=state)
    await after.open()
    assert [(each.name, each.calls) for each in after.stats.snapshot()] == [
        ("first", 3),
        ("second", 4),
    ]
    assert after.stats.snapshot()[0].health is BreakerHealth.OPEN
    assert (await search(after)).why == "first is paused after 3 failures"
    await anyio.sleep(20)
    await search(after)
    assert len(first.queries) == 4


async def test_statistics_are_saved_every_half_minute_without_any_query() -> None:
    state = MemoryState()
    over = router(ok("only"), state=state)
    await search(over, Query("canary"))
    assert state.kinds == {}
    await anyio.sleep(31)
    await search(over, Query("canary 2"))
    assert state.kinds["provider_stats"]["only"]["calls"] == 2
    assert "canary" not in str(state.kinds)


async def test_searches_beyond_the_rate_wait_until_the_deadline_of_the_call() -> None:
    provider = SlowProvider("only", [(1, hits_at("only.example"))])
    over = router(provider, pace=Pace(30, 60), concurrency=60, queues=True)
    began = anyio.current_time()
    queries = [Query(f"title {n}") for n in range(60)]
    outcomes = await over.search_all(queries, Deadline.after(50))
    assert [isinstance(outcome, Hits) for outcome in outcomes].count(True) == 54
    turns = [round(at - began) for at in provider.called_at]
    assert turns == [0] * 30 + [2 * n for n in range(1, 25)]
    late = [outcome for outcome in outcomes if isinstance(outcome, SearchError)]
    assert {type(error) for error in late} == {ProviderRateLimited}
    assert all((error.retry_after_s or 0) >= 49 for error in late)


async def test_a_queued_search_has_its_whole_time_once_it_is_called() -> None:
    provider = SlowProvider("only", [(0, hits_at("only.example")), (8, hits_at("only.example"))])
    over = router(provider, pace=Pace(1, 20), queues=True)
    await search(over)
    assert (await over.search(QUERY, Deadline.after(50))).hits


@pytest.mark.parametrize(
    ("queues", "wait_s", "calls", "pause_s"),
    [(True, 20.0, 2, 20), (True, 40.0, 1, 0), (False, 5.0, 1, 0), (True, None, 1, 0)],
    ids=["within the deadline", "after it", "no queue", "no time given"],
)
async def test_a_429_that_can_be_waited_for_is_retried_once(
    queues: bool, wait_s: float | None, calls: int, pause_s: float
) -> None:
    refusal = ProviderRateLimited("Wait.", provider="only", status=429, retry_after_s=wait_s)
    provider = SlowProvider("only", [(0, refusal)])
    began = anyio.current_time()
    error = await error_of(router(provider, queues=queues))
    assert error.status == 429
    assert len(provider.called_at) == calls
    assert anyio.current_time() - began == pytest.approx(pause_s, abs=0.1)


async def test_after_a_429_the_next_provider_is_called_before_anything_is_waited_for() -> None:
    refusal = ProviderRateLimited("Wait.", provider="first", status=429, retry_after_s=5)
    first = SlowProvider("first", [(0, refusal)])
    began = anyio.current_time()
    hits = await search(router(first, ok("second"), queues=True))
    assert (hits.provider, anyio.current_time()) == ("second", began)
