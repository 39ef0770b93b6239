"""Several providers called at once, in virtual time: fusion, replacement of failures, grace period."""

import pytest

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAuth,
    ProviderFailed,
    ProviderTimeout,
    SearchError,
)
from kindly.models import Hits, Query
from kindly.redact import Redactor
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
) -> Router:
    return build_router(
        [entry(each, pace=pace or Pace(1000, 1), scraped=scraped) for each in providers],
        clock=virtual_clock(),
        state=state or MemoryState(),
        hints=HINTS,
        redactor=Redactor.of(()),
        settings=RouterSettings(parallel, cache_ttl_s=0, concurrency=concurrency),
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


async def test_a_fused_answer_names_the_providers_of_each_hit() -> None:
    first = FakeProvider("first", [hits_at("a.example", "both.example", provider="first")])
    second = FakeProvider("second", [hits_at("both.example", "b.example", provider="second")])
    third = ok("third")
    hits = await search(router(first, second, third, parallel=2))
    assert [(hit.url, hit.found_by) for hit in hits.hits] == [
        ("https://both.example/", ("first", "second")),
        ("https://a.example/", ("first",)),
        ("https://b.example/", ("second",)),
    ]
    assert (hits.provider, hits.why) == ("first", "fused from first, second")
    assert third.queries == []


@pytest.mark.parametrize(
    ("fast_s", "slow_s", "took_s", "late"),
    [
        (0.1, 0.55, 0.55, False),
        (0.1, 0.7, 0.6, True),
        (2.0, 3.9, 3.9, False),
        (2.0, 4.1, 4.0, True),
        (1.0, NEVER, 2.0, True),
    ],
)
async def test_slow_providers_delay_the_answer_by_the_grace_period_at_most(
    fast_s: float, slow_s: float, took_s: float, late: bool
) -> None:
    fast = SlowProvider("fast", [(fast_s, hits_at("fast.example"))])
    slow = SlowProvider("slow", [(slow_s, hits_at("slow.example"))])
    over = router(slow, fast, parallel=2)
    hits = await search(over)
    assert hits.took_ms == pytest.approx(took_s * 1000, abs=2)
    assert slow.cancelled == late
    assert hits.why == (
        "only fast answered; slow was too slow" if late else "fused from slow, fast"
    )
    assert over.stats.snapshot()[0].failures == {}


async def test_a_failing_provider_is_replaced_in_a_fusion() -> None:
    first, second = FakeProvider("first", [down("first")]), ok("second")
    third, fourth = ok("third"), ok("fourth")
    hits = await search(router(first, second, third, fourth, parallel=2))
    assert hits.why == "fused from second, third; first failed (HTTP 503)"
    assert hits.failed == ("first",)
    assert fourth.queries == []


async def test_a_refused_key_is_reported_and_not_replaced_in_a_fusion() -> None:
    first = FakeProvider("first", [ProviderAuth("No.", provider="first", status=401)])
    second, third = ok("second"), ok("third")
    hits = await search(router(first, second, third, parallel=2))
    assert hits.why == "only second answered; first failed (HTTP 401)"
    assert third.queries == []


async def test_providers_with_an_open_breaker_are_skipped_in_a_fusion() -> None:
    first = FakeProvider("first", [down("first")])
    over = router(first, ok("second"), ok("third"), parallel=2)
    for _ in range(3):
        await search(over)
    hits = await search(over)
    assert hits.why == "fused from second, third; first is paused after 3 failures"
    assert len(first.queries) == 3


async def test_fusion_of_failures_is_the_primary_error_with_a_note() -> None:
    slow = SlowProvider("first", [(1, down("first"))])
    over = router(
        slow, FakeProvider("second", [ProviderTimeout("Late.", provider="second")]), parallel=2
    )
    error = await error_of(over)
    assert (type(error), error.provider) == (ProviderFailed, "first")
    assert "second (timeout)" in str(error)
