"""What is known of each provider: calls, failures, latency, quota left and health. Counts only; never a query.

Kept between starts through `State`. What was counted since the last save is added to what is stored by then, so that
several programs that share a state do not undo each other's counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import anyio

from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.rate_limits import Quota
from kindly.search.state.state import State

KIND = "ledger"
SAMPLES = 64
"""Latest latencies that are kept for each provider."""
SAVE_EVERY_S = 30.0
SAVE_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong last, by its outcome, and when."""

    kind: str
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class BreakerState:
    """How things are with a provider at a moment."""

    at: float = 0.0
    failures: int = 0
    """In a row."""
    open_until: float = 0.0
    """Seconds since the epoch; zero when its breaker is closed."""
    quota: Quota | None = None


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    """Counts that can be added up."""

    calls: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    """By outcome."""
    latencies_ms: tuple[int, ...] = ()
    """Of calls that were answered, the latest last."""
    last_failure: Failure | None = None
    standing: BreakerState = BreakerState()

    def plus(self, later: "ProviderRecord") -> "ProviderRecord":
        """Both together."""
        failures = dict(self.failures)
        for kind, count in later.failures.items():
            failures[kind] = failures.get(kind, 0) + count
        return ProviderRecord(
            self.calls + later.calls,
            failures,
            (self.latencies_ms + later.latencies_ms)[-SAMPLES:],
            _latest(self.last_failure, later.last_failure),
            later.standing if later.standing.at >= self.standing.at else self.standing,
        )


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """One provider as `kindly doctor` shows it."""

    name: str
    calls: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    p50_ms: int | None = None
    p95_ms: int | None = None
    quota: Quota | None = None
    last_failure: Failure | None = None
    health: BreakerHealth = BreakerHealth.CLOSED


class ProviderStats:
    """The books of all providers."""

    def __init__(self, names: tuple[str, ...], state: State, now: Callable[[], float]) -> None:
        self._state = state
        self._now = now
        self._stored = dict.fromkeys(names, ProviderRecord())
        self._fresh = dict.fromkeys(names, ProviderRecord())
        self._saved_at = now()

    async def load(self) -> None:
        """Take up what earlier starts counted."""
        self._stored = await self._read()
        self._saved_at = self._now()

    def answered(self, name: str, took_s: float, standing: BreakerState) -> None:
        """A call was answered."""
        self._add(name, ProviderRecord(1, latencies_ms=(round(took_s * 1000),), standing=standing))

    def failed(self, name: str, kind: str, standing: BreakerState) -> None:
        """A call failed; `kind` is its outcome."""
        self._add(name, ProviderRecord(1, {kind: 1}, (), Failure(kind, standing.at), standing))

    def standing(self, name: str) -> BreakerState:
        """The latest that is known."""
        return self._record(name).standing

    def snapshot(self) -> tuple[ProviderStatus, ...]:
        """All providers in their order, as of now."""
        return tuple(self._status(name) for name in self._fresh)

    async def save_if_due(self) -> None:
        """Save, but not more often than every half minute."""
        if abs(self._now() - self._saved_at) >= SAVE_EVERY_S:
            await self.save()

    async def save(self) -> None:
        """Add what was counted since the last time to what is stored; nothing to add writes nothing."""
        self._saved_at = self._now()
        fresh = {name: record for name, record in self._fresh.items() if record.calls}
        if not fresh:
            return
        self._fresh.update(dict.fromkeys(fresh, ProviderRecord()))
        self._stored.update({name: self._stored[name].plus(fresh[name]) for name in fresh})
        with anyio.move_on_after(SAVE_TIMEOUT_S, shield=True):
            stored = await self._read()
            sums = {name: stored[name].plus(record) for name, record in fresh.items()}
            await self._state.save(KIND, {name: asdict(record) for name, record in sums.items()})
            self._stored = stored | sums

    async def _read(self) -> dict[str, ProviderRecord]:
        kept = await self._state.load(KIND)
        return {name: self._possible(record_from(kept.get(name))) for name in self._fresh}

    def _possible(self, record: ProviderRecord) -> ProviderRecord:
        """Without what stands in the future: a clock that was set back would have it rule until then."""
        ahead = record.standing.at > self._now() + SAVE_EVERY_S
        return replace(record, standing=BreakerState()) if ahead else record

    def _add(self, name: str, record: ProviderRecord) -> None:
        self._fresh[name] = self._fresh[name].plus(record)

    def _record(self, name: str) -> ProviderRecord:
        return self._stored[name].plus(self._fresh[name])

    def _status(self, name: str) -> ProviderStatus:
        record = self._record(name)
        ordered = sorted(record.latencies_ms)
        return ProviderStatus(
            name,
            record.calls,
            record.failures,
            percentile(ordered, 0.5),
            percentile(ordered, 0.95),
            record.standing.quota,
            record.last_failure,
            self._health(record.standing),
        )

    def _health(self, standing: BreakerState) -> BreakerHealth:
        if not standing.open_until:
            return BreakerHealth.CLOSED
        return BreakerHealth.OPEN if self._now() < standing.open_until else BreakerHealth.HALF_OPEN


def percentile(ordered: list[int], share: float) -> int | None:
    """The smallest value that at least `share` of the values do not exceed."""
    if not ordered:
        return None
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def record_from(kept: Mapping[str, Any] | None) -> ProviderRecord:
    """A record as it was saved; what another version wrote and we cannot read is an empty one."""
    if not kept:
        return ProviderRecord()
    try:
        standing = kept["standing"]
        quota = standing["quota"]
        failure = kept["last_failure"]
        return ProviderRecord(
            int(kept["calls"]),
            {str(kind): int(count) for kind, count in kept["failures"].items()},
            tuple(int(value) for value in kept["latencies_ms"]),
            Failure(str(failure["kind"]), float(failure["at"])) if failure else None,
            replace(_standing(standing), quota=_quota(quota) if quota else None),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return ProviderRecord()


def _standing(kept: Mapping[str, Any]) -> BreakerState:
    return BreakerState(float(kept["at"]), int(kept["failures"]), float(kept["open_until"]))


def _quota(kept: Mapping[str, Any]) -> Quota:
    limit, reset_at = kept["limit"], kept["reset_at"]
    return Quota(
        int(kept["left"]),
        None if limit is None else int(limit),
        None if reset_at is None else float(reset_at),
    )


def _latest(one: Failure | None, other: Failure | None) -> Failure | None:
    if one is None or other is None:
        return one or other
    return other if other.at >= one.at else one
