"""Statistics of calls: tools, outcomes, durations, sizes. Never a query, an address or page text."""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.frozen import frozen
from kindly.models import CallOutcome, Ending, How, Step

RECENT_CALLS = 100
INTERVAL_S = 10.0
INTERVALS = 60
"""Calls are also summed up per interval, for the last ten minutes."""
BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0)

Facts = Mapping[str, str | int | float | bool | How]


@dataclass(slots=True)
class Histogram:
    """A histogram of durations."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    """Per bucket: the first of `BOUNDS_S` that is not exceeded; the last bucket is unbounded."""
    total_s: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds


@frozen
class FinishedCall:
    """A call that has ended."""

    id: str
    tool: str
    at: float
    """When it started, in seconds since the epoch."""
    outcome: CallOutcome
    took_ms: int
    tokens: int
    """Of its answer."""
    steps_ms: Mapping[Step, int]
    """Total duration per kind of step; concurrent steps are added up."""
    failed: bool


@dataclass(slots=True)
class StatsInterval:
    """The calls that ended in one interval."""

    at: float
    calls: int = 0
    failed: int = 0
    total_ms: int = 0
    slowest_ms: int = 0


@dataclass(slots=True)
class RunningCall:
    """A running call; its caller sets the outcome."""

    id: str
    tool: str
    outcome: CallOutcome = Ending.CANCELLED
    failed: bool = False
    tokens: int = 0
    took_ms: int = 0
    """Set when it ends."""
    steps_s: dict[Step, float] = field(default_factory=dict)


class CallStats:
    """The statistics of one server since it started."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._intervals: deque[StatsInterval] = deque(maxlen=INTERVALS)
        self.started_at = clock.time()
        self.in_flight = 0
        self.busy = 0
        self.calls: Counter[tuple[str, CallOutcome]] = Counter()
        """By tool and outcome."""
        self.durations: dict[str, Histogram] = {}
        """By tool."""
        self.steps: Counter[tuple[Step, CallOutcome]] = Counter()
        """By kind and outcome."""
        self.step_durations: dict[Step, Histogram] = {}
        self.pages: Counter[How] = Counter()
        """By how they were retrieved."""
        self.page_bytes: Counter[How] = Counter()
        self.cached_searches = 0
        """Searches answered from the cache."""
        self.recent: deque[FinishedCall] = deque(maxlen=RECENT_CALLS)
        """The latest last."""

    @property
    def cached_pages(self) -> int:
        """Pages that were not downloaded again."""
        return sum(count for how, count in self.pages.items() if how.is_cached)

    @contextmanager
    def call(self, running: RunningCall) -> Iterator[None]:
        """Count a call: the block."""
        at, began = self._clock.time(), self._clock.monotonic()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._end(running, at, self._clock.monotonic() - began)

    def step(
        self,
        running: RunningCall,
        name: Step,
        took_s: float,
        outcome: CallOutcome,
        facts: Facts,
    ) -> None:
        """Count a step of a call."""
        running.steps_s[name] = running.steps_s.get(name, 0.0) + took_s
        self.steps[name, outcome] += 1
        self.step_durations.setdefault(name, Histogram()).add(took_s)
        if name is Step.SEARCH and facts.get("cached"):
            self.cached_searches += 1
        how, size = facts.get("how"), facts.get("bytes")
        if name in {Step.FETCH, Step.RENDER} and isinstance(how, How):
            self.pages[how] += 1
            self.page_bytes[how] += size if isinstance(size, int) else 0

    def intervals(self) -> tuple[StatsInterval, ...]:
        """The last ten minutes, without intervals that had no call; the latest last."""
        oldest = self._interval_start() - INTERVAL_S * INTERVALS
        return tuple(interval for interval in self._intervals if interval.at > oldest)

    def _end(self, running: RunningCall, at: float, took_s: float) -> None:
        took_ms = running.took_ms = round(took_s * 1000)
        self.calls[running.tool, running.outcome] += 1
        self.durations.setdefault(running.tool, Histogram()).add(took_s)
        self.busy += running.outcome is Ending.BUSY
        steps_ms = {name: round(seconds * 1000) for name, seconds in running.steps_s.items()}
        self.recent.append(
            FinishedCall(
                running.id,
                running.tool,
                at,
                running.outcome,
                took_ms,
                running.tokens,
                steps_ms,
                running.failed,
            )
        )
        interval = self._current_interval()
        interval.calls += 1
        interval.failed += running.failed
        interval.total_ms += took_ms
        interval.slowest_ms = max(interval.slowest_ms, took_ms)

    def _current_interval(self) -> StatsInterval:
        at = self._interval_start()
        if not self._intervals or self._intervals[-1].at != at:
            self._intervals.append(StatsInterval(at))
        return self._intervals[-1]

    def _interval_start(self) -> float:
        return self._clock.time() // INTERVAL_S * INTERVAL_S
