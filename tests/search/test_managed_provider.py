"""One provider with its breaker, rate limit, time-out and statistics, in virtual time."""

import pytest

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAuth,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderTimeout,
    SearchError,
)
from kindly.models import Query
from kindly.search.circuit_breaker import CircuitBreaker
from kindly.search.managed_provider import FAIR_CHANCE_S, ManagedProvider
from kindly.search.provider import SearchProvider
from kindly.search.provider_pacing import Pacer
from kindly.search.provider_stats import ProviderStats
from kindly.search.rate_limits import RateLimits
from tests.support.fakes import FakeProvider
from tests.support.memory_state import MemoryState
from tests.support.routing import FAST, VIRTUAL, SlowProvider, hits_at, virtual_clock

pytestmark = pytest.mark.anyio

QUERY = Query("title", count=5)
FOUND = hits_at("one.example")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return VIRTUAL


def managed(provider: SearchProvider, *, scraped: bool = False) -> ManagedProvider:
    clock = virtual_clock()
    return ManagedProvider(
        provider,
        CircuitBreaker(clock.monotonic),
        Pacer(provider.name, provider.name.title(), FAST, RateLimits(clock), clock.sleep),
        ProviderStats((provider.name,), MemoryState(), clock.time),
        scraped,
        clock,
    )


async def failure(provider: ManagedProvider, seconds: float = 30) -> SearchError:
    provider.breaker.enter()
    with pytest.raises(SearchError) as caught:
        await provider.search(QUERY, Deadline.after(seconds))
    return caught.value


async def test_an_answer_closes_the_breaker_and_is_counted() -> None:
    one = managed(FakeProvider("fake", [FOUND]))
    one.breaker.failed()
    one.breaker.enter()
    assert (await one.search(QUERY, Deadline.after(30))).hits == FOUND
    assert one.breaker.failures == 0
    (status,) = one.stats.snapshot()
    assert status.calls == 1


@pytest.mark.parametrize(
    ("error", "failures"),
    [
        (ProviderFailed("It failed.", provider="fake", status=503), 1),
        (ProviderAuth("It refused.", provider="fake", status=401), 0),
    ],
    ids=["temporary", "the same elsewhere"],
)
async def test_only_failures_that_another_provider_may_avoid_count(
    error: SearchError, failures: int
) -> None:
    one = managed(FakeProvider("fake", [error]))
    assert await failure(one) is error
    assert one.breaker.failures == failures


@pytest.mark.parametrize(("seconds", "failures"), [(FAIR_CHANCE_S / 2, 0), (FAIR_CHANCE_S * 2, 1)])
async def test_a_provider_that_ignores_its_deadline_is_cancelled(
    seconds: float, failures: int
) -> None:
    slow = SlowProvider("fake", [(1e6, FOUND)])
    one = managed(slow)
    error = await failure(one, seconds)
    assert isinstance(error, ProviderTimeout)
    assert slow.cancelled == 1
    assert one.breaker.failures == failures
    assert one.breaker.allows_call


async def test_retry_after_delays_the_next_call() -> None:
    error = ProviderRateLimited("Too many.", provider="fake", status=429, retry_after_s=60)
    one = managed(FakeProvider("fake", [error, FOUND]))
    assert await failure(one) is error
    assert isinstance(await failure(one, 30), ProviderRateLimited)
    one.breaker.enter()
    assert (await one.search(QUERY, Deadline.after(90))).hits == FOUND


@pytest.mark.parametrize("scraped", [True, False])
async def test_unrelated_results_are_a_block_only_where_pages_are_scraped(scraped: bool) -> None:
    one = managed(
        FakeProvider("fake", [hits_at("a.invalid", "b.invalid", "c.invalid")]), scraped=scraped
    )
    query = Query("kettle", count=5)
    one.breaker.enter()
    if not scraped:
        assert len((await one.search(query, Deadline.after(30))).hits) == 3
        return
    with pytest.raises(ProviderBlocked, match="unrelated"):
        await one.search(query, Deadline.after(30))


async def test_an_open_breaker_is_restored_from_the_statistics() -> None:
    one = managed(FakeProvider("fake", [ProviderFailed("Down.", provider="fake", status=503)]))
    while one.breaker.allows_call:
        await failure(one)
    fresh = CircuitBreaker(one.clock.monotonic)
    ManagedProvider(one.provider, fresh, one.pacer, one.stats, False, one.clock).restore()
    assert not fresh.allows_call
    assert fresh.failures == one.breaker.failures
