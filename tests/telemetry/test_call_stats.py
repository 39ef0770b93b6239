"""Statistics of calls, under a clock that the test moves."""

import pytest

from kindly.models import CallOutcome, Ending, FetchMethod, How, OutcomeKind, Step
from kindly.telemetry.call_stats import (
    BOUNDS_S,
    INTERVAL_S,
    INTERVALS,
    RECENT_CALLS,
    CallStats,
    FinishedCall,
    RunningCall,
    StatsInterval,
)
from kindly.telemetry.trace import Fact
from tests.support.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1000.0)


@pytest.fixture
def stats(clock: FakeClock) -> CallStats:
    return CallStats(clock.clock)


def finish(
    stats: CallStats,
    clock: FakeClock,
    *,
    took_s: float = 0.2,
    outcome: CallOutcome = OutcomeKind.OK,
) -> None:
    current = RunningCall("id", "web_search")
    with stats.call(current):
        clock.advance(took_s)
        current.outcome, current.failed, current.tokens = outcome, outcome is not OutcomeKind.OK, 7


def test_a_call_is_counted_by_tool_and_outcome(stats: CallStats, clock: FakeClock) -> None:
    finish(stats, clock)
    finish(stats, clock)
    finish(stats, clock, outcome=OutcomeKind.BLOCKED)
    assert stats.calls == {("web_search", "ok"): 2, ("web_search", "blocked"): 1}
    assert stats.durations["web_search"].total_s == pytest.approx(0.6)
    assert stats.busy == 0


def test_a_busy_refusal_is_counted_as_such(stats: CallStats, clock: FakeClock) -> None:
    finish(stats, clock, outcome=Ending.BUSY)
    assert stats.busy == 1


def test_a_call_is_in_flight_until_it_ends_in_any_way(stats: CallStats) -> None:
    in_flight: list[int] = []

    def stopped() -> None:
        with stats.call(RunningCall("id", "recall")):
            in_flight.append(stats.in_flight)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert in_flight == [1]
    assert stats.in_flight == 0
    assert stats.calls == {("recall", "cancelled"): 1}


def test_the_latest_calls_are_listed(stats: CallStats, clock: FakeClock) -> None:
    current = RunningCall("a1", "read_page")
    with stats.call(current):
        stats.step(current, Step.FETCH, 0.1, OutcomeKind.OK, {})
        stats.step(current, Step.FETCH, 0.2, OutcomeKind.OK, {})
        clock.advance(0.25)
        current.outcome, current.tokens = OutcomeKind.OK, 12
    assert list(stats.recent) == [
        FinishedCall(
            "a1", "read_page", 1000.0, OutcomeKind.OK, 250, 12, {Step.FETCH: 300}, failed=False
        )
    ]
    assert current.took_ms == 250
    for _ in range(RECENT_CALLS + 5):
        finish(stats, clock)
    assert len(stats.recent) == RECENT_CALLS


@pytest.mark.parametrize(
    ("seconds", "index"),
    [(0.0, 0), (BOUNDS_S[0], 0), (BOUNDS_S[0] + 0.001, 1), (BOUNDS_S[-1] + 1, len(BOUNDS_S))],
    ids=["nothing", "on the bound", "just above it", "beyond all"],
)
def test_a_duration_is_counted_in_the_first_bucket_it_does_not_exceed(
    stats: CallStats, clock: FakeClock, seconds: float, index: int
) -> None:
    clock.now = 0.0
    finish(stats, clock, took_s=seconds)
    counts = stats.durations["web_search"].counts
    assert [number for number, count in enumerate(counts) if count] == [index]


def test_steps_count_downloads_and_cache_hits(stats: CallStats) -> None:
    current = RunningCall("id", "web_search")
    steps: list[tuple[Step, dict[str, Fact]]] = [
        (Step.SEARCH, {"cached": True}),
        (Step.SEARCH, {"cached": False}),
        (Step.FETCH, {"how": How(FetchMethod.HTTP), "bytes": 100}),
        (Step.FETCH, {"how": How(FetchMethod.CACHE), "bytes": 50}),
        (Step.FETCH, {"how": How(FetchMethod.REVALIDATED), "bytes": 50}),
        (Step.RENDER, {"how": How(FetchMethod.BROWSER), "bytes": 400}),
        (Step.EXTRACT, {"bytes": 100}),
    ]
    for name, facts in steps:
        stats.step(current, name, 0.1, OutcomeKind.OK, facts)
    stats.step(current, Step.FETCH, 0.1, OutcomeKind.TIMEOUT, {})
    assert stats.cached_searches == 1
    assert stats.cached_pages == 2
    assert {str(how): count for how, count in stats.pages.items()} == {
        "http": 1,
        "cache": 1,
        "revalidated": 1,
        "browser": 1,
    }
    assert stats.page_bytes[How(FetchMethod.BROWSER)] == 400
    assert stats.steps[Step.FETCH, OutcomeKind.TIMEOUT] == 1
    assert sum(stats.step_durations[Step.FETCH].counts) == 4


def test_calls_are_summed_up_per_interval(stats: CallStats, clock: FakeClock) -> None:
    finish(stats, clock, took_s=1.0)
    finish(stats, clock, took_s=3.0, outcome=OutcomeKind.TIMEOUT)
    clock.advance(INTERVAL_S)
    finish(stats, clock, took_s=1.0)
    assert stats.intervals() == (
        StatsInterval(1000.0, 2, 1, 4000, 3000),
        StatsInterval(1010.0, 1, 0, 1000, 1000),
    )


def test_intervals_older_than_ten_minutes_are_dropped(stats: CallStats, clock: FakeClock) -> None:
    finish(stats, clock)
    clock.advance(INTERVAL_S * INTERVALS)
    assert stats.intervals() == ()
