"""What is counted and kept of calls: tools, outcomes, times, sizes. Never what was asked or found.

Pure but for the clocks, which are passed in. It knows neither who makes the calls nor who reads the counts.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.models import How

RECENT = 100
"""Calls that are kept one by one."""
SLOT_S = 10.0
SLOTS = 60
"""Calls are also summed up by tens of seconds, for the last ten minutes."""
BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0)

Facts = Mapping[str, str | int | float | bool]


@dataclass(slots=True)
class Histogram:
    """How long things took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    """By the first of `BOUNDS_S` that is not exceeded; the last has the rest."""
    total_s: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that is over."""

    id: str
    tool: str
    at: float
    """When it began, in seconds since the epoch."""
    outcome: str
    took_ms: int
    tokens: int
    """Of its answer."""
    steps_ms: Mapping[str, int]
    """What each kind of step took, those that ran side by side added up."""
    failed: bool


@dataclass(slots=True)
class StatsInterval:
    """Calls that ended in the same ten seconds."""

    at: float
    calls: int = 0
    failed: int = 0
    total_ms: int = 0
    slowest_ms: int = 0


@dataclass(slots=True)
class RunningCall:
    """A call under way; who runs it says how it ended."""

    id: str
    tool: str
    outcome: str = "cancelled"
    failed: bool = False
    tokens: int = 0
    took_ms: int = 0
    """Known when it is over."""
    steps_s: dict[str, float] = field(default_factory=dict)


class CallStats:
    """The counts of one server since it started."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._slots: deque[StatsInterval] = deque(maxlen=SLOTS)
        self.started_at = clock.time()
        self.in_flight = 0
        self.busy = 0
        self.calls: Counter[tuple[str, str]] = Counter()
        """By tool and outcome."""
        self.durations: dict[str, Histogram] = {}
        """By tool."""
        self.steps: Counter[tuple[str, str]] = Counter()
        """By kind and outcome."""
        self.step_durations: dict[str, Histogram] = {}
        self.pages: Counter[str] = Counter()
        """Pages that were had, by how."""
        self.page_bytes: Counter[str] = Counter()
        self.kept_searches = 0
        """Searches that were answered from memory."""
        self.recent: deque[FinishedCall] = deque(maxlen=RECENT)
        """The latest last."""

    @property
    def kept_pages(self) -> int:
        """Pages that were not downloaded again."""
        return sum(count for how, count in self.pages.items() if How.parse(how).is_cached)

    @contextmanager
    def call(self, current: RunningCall) -> Iterator[None]:
        """Watch a call: what the block does."""
        at, began = self._clock.time(), self._clock.monotonic()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._end(current, at, self._clock.monotonic() - began)

    def step(
        self, current: RunningCall, name: str, took_s: float, outcome: str, facts: Facts
    ) -> None:
        """A step of a call is over."""
        current.steps_s[name] = current.steps_s.get(name, 0.0) + took_s
        self.steps[name, outcome] += 1
        self.step_durations.setdefault(name, Histogram()).add(took_s)
        if name == "search" and facts.get("cached"):
            self.kept_searches += 1
        if name in {"fetch", "render"} and "how" in facts:
            self.pages[str(facts["how"])] += 1
            self.page_bytes[str(facts["how"])] += int(facts.get("bytes", 0))

    def slots(self) -> tuple[StatsInterval, ...]:
        """The last ten minutes, those without a call left out; the latest last."""
        oldest = self._slot_at() - SLOT_S * SLOTS
        return tuple(slot for slot in self._slots if slot.at > oldest)

    def _end(self, current: RunningCall, at: float, took_s: float) -> None:
        took_ms = current.took_ms = round(took_s * 1000)
        self.calls[current.tool, current.outcome] += 1
        self.durations.setdefault(current.tool, Histogram()).add(took_s)
        self.busy += current.outcome == "busy"
        steps_ms = {name: round(seconds * 1000) for name, seconds in current.steps_s.items()}
        self.recent.append(
            FinishedCall(
                current.id,
                current.tool,
                at,
                current.outcome,
                took_ms,
                current.tokens,
                steps_ms,
                current.failed,
            )
        )
        slot = self._slot()
        slot.calls += 1
        slot.failed += current.failed
        slot.total_ms += took_ms
        slot.slowest_ms = max(slot.slowest_ms, took_ms)

    def _slot(self) -> StatsInterval:
        at = self._slot_at()
        if not self._slots or self._slots[-1].at != at:
            self._slots.append(StatsInterval(at))
        return self._slots[-1]

    def _slot_at(self) -> float:
        return self._clock.time() // SLOT_S * SLOT_S
