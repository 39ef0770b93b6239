"""What is counted of calls, under a clock that the test moves."""

import pytest

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
from tests.support.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1000.0)


@pytest.fixture
def watch(clock: FakeClock) -> CallStats:
    return CallStats(clock.clock)


def ended(watch: CallStats, clock: FakeClock, *, took_s: float = 0.2, outcome: str = "ok") -> None:
    current = RunningCall("id", "web_search")
    with watch.call(current):
        clock.advance(took_s)
        current.outcome, current.failed, current.tokens = outcome, outcome != "ok", 7


def test_a_call_is_counted_by_tool_and_outcome(watch: CallStats, clock: FakeClock) -> None:
    ended(watch, clock)
    ended(watch, clock)
    ended(watch, clock, outcome="blocked")
    assert watch.calls == {("web_search", "ok"): 2, ("web_search", "blocked"): 1}
    assert watch.durations["web_search"].total_s == pytest.approx(0.6)
    assert watch.busy == 0


def test_a_busy_refusal_is_counted_as_such(watch: CallStats, clock: FakeClock) -> None:
    ended(watch, clock, outcome="busy")
    assert watch.busy == 1


def test_a_call_is_in_flight_until_it_ends_in_any_way(watch: CallStats) -> None:
    seen: list[int] = []

    def stopped() -> None:
        with watch.call(RunningCall("id", "recall")):
            seen.append(watch.in_flight)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert seen == [1]
    assert watch.in_flight == 0
    assert watch.calls == {("recall", "cancelled"): 1}


def test_the_latest_calls_are_kept_one_by_one(watch: CallStats, clock: FakeClock) -> None:
    current = RunningCall("a1", "read_page")
    with watch.call(current):
        watch.step(current, "fetch", 0.1, "ok", {})
        watch.step(current, "fetch", 0.2, "ok", {})
        clock.advance(0.25)
        current.outcome, current.tokens = "ok", 12
    assert list(watch.recent) == [
        FinishedCall("a1", "read_page", 1000.0, "ok", 250, 12, {"fetch": 300}, failed=False)
    ]
    assert current.took_ms == 250
    for _ in range(RECENT_CALLS + 5):
        ended(watch, clock)
    assert len(watch.recent) == RECENT_CALLS


@pytest.mark.parametrize(
    ("seconds", "index"),
    [(0.0, 0), (BOUNDS_S[0], 0), (BOUNDS_S[0] + 0.001, 1), (BOUNDS_S[-1] + 1, len(BOUNDS_S))],
    ids=["nothing", "on the bound", "just above it", "beyond all"],
)
def test_a_duration_falls_under_the_first_bound_it_does_not_exceed(
    watch: CallStats, clock: FakeClock, seconds: float, index: int
) -> None:
    clock.now = 0.0
    ended(watch, clock, took_s=seconds)
    counts = watch.durations["web_search"].counts
    assert [number for number, count in enumerate(counts) if count] == [index]


def test_steps_tell_what_was_downloaded_and_what_was_at_hand(watch: CallStats) -> None:
    current = RunningCall("id", "web_search")
    seen: list[tuple[str, dict[str, str | int | bool]]] = [
        ("search", {"cached": True}),
        ("search", {"cached": False}),
        ("fetch", {"how": "http", "bytes": 100}),
        ("fetch", {"how": "cache", "bytes": 50}),
        ("fetch", {"how": "revalidated", "bytes": 50}),
        ("render", {"how": "browser", "bytes": 400}),
        ("extract", {"bytes": 100}),
    ]
    for name, facts in seen:
        watch.step(current, name, 0.1, "ok", facts)
    watch.step(current, "fetch", 0.1, "timeout", {})
    assert watch.cached_searches == 1
    assert watch.cached_pages == 2
    assert watch.pages == {"http": 1, "cache": 1, "revalidated": 1, "browser": 1}
    assert watch.page_bytes["browser"] == 400
    assert watch.steps["fetch", "timeout"] == 1
    assert sum(watch.step_durations["fetch"].counts) == 4


def test_calls_are_summed_up_by_ten_seconds(watch: CallStats, clock: FakeClock) -> None:
    ended(watch, clock, took_s=1.0)
    ended(watch, clock, took_s=3.0, outcome="timeout")
    clock.advance(INTERVAL_S)
    ended(watch, clock, took_s=1.0)
    assert watch.intervals() == (
        StatsInterval(1000.0, 2, 1, 4000, 3000),
        StatsInterval(1010.0, 1, 0, 1000, 1000),
    )


def test_what_is_older_than_ten_minutes_is_gone(watch: CallStats, clock: FakeClock) -> None:
    ended(watch, clock)
    clock.advance(INTERVAL_S * INTERVALS)
    assert watch.intervals() == ()
