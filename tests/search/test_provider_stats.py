"""Statistics of providers: counts, latency, quota, and how they are saved."""

import json
from typing import Any

import anyio
import pytest

from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.provider_stats import (
    BreakerState,
    Failure,
    ProviderRecord,
    ProviderStats,
    ProviderStatus,
    percentile,
    record_from,
)
from kindly.search.rate_limits import Quota
from kindly.storage.state import State
from tests.support.fakes import FakeClock
from tests.support.memory_state import MemoryState

pytestmark = pytest.mark.anyio

NAMES = ("serper", "tavily")


def new_stats(state: State | None = None, clock: FakeClock | None = None) -> ProviderStats:
    return ProviderStats(NAMES, state or MemoryState(), clock or FakeClock())


def status(stats: ProviderStats, name: str = "serper") -> ProviderStatus:
    return next(each for each in stats.snapshot() if each.name == name)


def test_new_statistics_list_all_providers_in_order() -> None:
    assert new_stats().snapshot() == (ProviderStatus("serper"), ProviderStatus("tavily"))


def test_calls_failures_latency_and_quota_are_counted() -> None:
    stats, clock = new_stats(clock=FakeClock(50)), FakeClock(50)
    for took_ms in range(1, 101):
        stats.answered("serper", took_ms / 1000, BreakerState(at=clock()))
    stats.failed("serper", "timeout", BreakerState(at=51))
    stats.failed("serper", "timeout", BreakerState(at=52))
    stats.failed("serper", "rate_limited", BreakerState(at=53, quota=Quota(0, 10, 99)))
    assert status(stats) == ProviderStatus(
        name="serper",
        calls=103,
        failures={"timeout": 2, "rate_limited": 1},
        p50_ms=68,
        p95_ms=97,
        quota=Quota(0, 10, 99),
        last_failure=Failure("rate_limited", 53),
        health=BreakerHealth.CLOSED,
    )
    assert status(stats, "tavily") == ProviderStatus("tavily")


def test_health_follows_the_clock() -> None:
    clock = FakeClock(100)
    stats = new_stats(clock=clock)
    stats.failed("serper", "timeout", BreakerState(at=100, failures=3, open_until=130))
    assert status(stats).health is BreakerHealth.OPEN
    clock.advance(30)
    assert status(stats).health is BreakerHealth.HALF_OPEN


async def test_statistics_survive_a_restart() -> None:
    state = MemoryState()
    before = new_stats(state)
    before.answered("serper", 0.2, BreakerState(at=1, quota=Quota(7, None, None)))
    before.failed("serper", "timeout", BreakerState(3, 1, 0.0, Quota(7, 9, 12.5)))
    before.answered("tavily", 0.1, BreakerState(at=2))
    await before.save()
    after = new_stats(MemoryState(json.loads(json.dumps(state.kinds))))
    await after.load()
    assert after.snapshot() == before.snapshot()
    assert after.breaker("serper") == BreakerState(3, 1, 0.0, Quota(7, 9, 12.5))


async def test_the_counts_of_two_processes_add_up() -> None:
    state = MemoryState()
    one, other = new_stats(state), new_stats(state)
    one.answered("serper", 0.1, BreakerState(at=5, failures=0))
    other.failed("serper", "timeout", BreakerState(at=4, failures=1))
    await one.save()
    await other.save()
    await one.save()
    one.answered("serper", 0.1, BreakerState(at=6))
    await one.save()
    assert (status(one).calls, status(one).failures) == (3, {"timeout": 1})
    assert one.breaker("serper").at == 6


async def test_statistics_are_saved_only_if_due_and_changed() -> None:
    state, clock = MemoryState(), FakeClock()
    stats = new_stats(state, clock)
    await stats.save()
    assert state.kinds == {}
    stats.answered("serper", 0.1, BreakerState(at=1))
    clock.advance(29)
    await stats.save_if_due()
    assert state.kinds == {}
    clock.advance(1)
    await stats.save_if_due()
    assert state.kinds["provider_stats"]["serper"]["calls"] == 1
    assert set(state.kinds["provider_stats"]) == {"serper"}


async def test_a_cancelled_caller_loses_no_counts() -> None:
    state = MemoryState()
    stats = new_stats(state)
    stats.answered("serper", 0.1, BreakerState(at=1))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await stats.save()
    assert status(stats).calls == 1
    assert state.kinds["provider_stats"]["serper"]["calls"] == 1


BROKEN = [
    {"calls": "many"},
    {"calls": 1},
    {"calls": 1, "failures": [], "latencies_ms": [], "last_failure": None, "breaker": {}},
    {"calls": None, "failures": {}, "latencies_ms": [], "last_failure": None, "breaker": None},
    {
        "calls": 1,
        "failures": [],
        "latencies_ms": [],
        "last_failure": None,
        "breaker": {"at": 0, "failures": 0, "open_until": 0, "quota": None},
    },
]


@pytest.mark.parametrize("kept", [None, {}, *BROKEN])
def test_a_record_that_cannot_be_read_is_empty(kept: dict[str, Any] | None) -> None:
    assert record_from(kept) == ProviderRecord()


def test_only_the_latest_latencies_are_kept() -> None:
    stats = new_stats()
    for _ in range(200):
        stats.answered("serper", 9, BreakerState())
    for _ in range(64):
        stats.answered("serper", 1, BreakerState())
    assert (status(stats).p50_ms, status(stats).p95_ms) == (1000, 1000)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, None),
        ([5], 0.5, 5),
        ([5], 0.95, 5),
        ([1, 2], 0.5, 1),
        ([1, 2, 3], 0.5, 2),
        (list(range(1, 101)), 0.95, 95),
    ],
)
def test_percentile_is_the_nearest_rank(
    values: list[int], share: float, expected: int | None
) -> None:
    assert percentile(values, share) == expected
