"""Statistics per provider: calls, failures, latency, quota left, circuit breaker. Counts only; never a query.

Saved between starts through `State`. A save adds the new counts to the stored ones, so that several processes that
share a state do not overwrite each other's counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from typing import Any

import anyio

from kindly.frozen import frozen
from kindly.search.circuit_breaker import BreakerHealth
from kindly.search.rate_limits import Quota
from kindly.storage.state import State

KIND = "provider_stats"
SAMPLES = 64
"""Latest latencies that are kept for each provider."""
SAVE_EVERY_S = 30.0
SAVE_TIMEOUT_S = 2.0


@frozen
class Failure:
    """The last failure."""

    kind: str
    """Its outcome, such as `timeout`."""
    at: float
    """Seconds since the epoch."""


@frozen
class BreakerState:
    """The circuit breaker and the quota of a provider at a moment."""

    at: float = 0.0
    failures: int = 0
    """In a row."""
    open_until: float = 0.0
    """Seconds since the epoch; zero when the breaker is closed."""
    quota: Quota | None = None


@frozen
class ProviderRecord:
    """Counts that can be added up."""

    calls: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    """By outcome."""
    latencies_ms: tuple[int, ...] = ()
    """Of calls that were answered, the latest last."""
    last_failure: Failure | None = None
    breaker: BreakerState = BreakerState()

    def plus(self, later: "ProviderRecord") -> "ProviderRecord":
        """The sum of both."""
        failures = dict(self.failures)
        for kind, count in later.failures.items():
            failures[kind] = failures.get(kind, 0) + count
        return ProviderRecord(
            self.calls + later.calls,
            failures,
            (self.latencies_ms + later.latencies_ms)[-SAMPLES:],
            _latest(self.last_failure, later.last_failure),
            later.breaker if later.breaker.at >= self.breaker.at else self.breaker,
        )


@frozen
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
    """The statistics of all providers."""

    def __init__(self, names: tuple[str, ...], state: State, time: Callable[[], float]) -> None:
        self._state = state
        self._time = time
        self._stored = dict.fromkeys(names, ProviderRecord())
        self._unsaved = dict.fromkeys(names, ProviderRecord())
        self._saved_at = time()

    async def load(self) -> None:
        """Load what earlier starts saved."""
        self._stored = await self._read()
        self._saved_at = self._time()

    def answered(self, name: str, took_s: float, breaker: BreakerState) -> None:
        """Count a call that was answered."""
        self._add(name, ProviderRecord(1, latencies_ms=(round(took_s * 1000),), breaker=breaker))

    def failed(self, name: str, kind: str, breaker: BreakerState) -> None:
        """Count a call that failed; `kind` is its outcome."""
        self._add(name, ProviderRecord(1, {kind: 1}, (), Failure(kind, breaker.at), breaker))

    def breaker(self, name: str) -> BreakerState:
        """The latest known state of the provider's circuit breaker."""
        return self._record(name).breaker

    def snapshot(self) -> tuple[ProviderStatus, ...]:
        """All providers in their order, as of now."""
        return tuple(self._status(name) for name in self._unsaved)

    async def save_if_due(self) -> None:
        """Save, but not more often than every half minute."""
        if abs(self._time() - self._saved_at) >= SAVE_EVERY_S:
            await self.save()

    async def save(self) -> None:
        """Add the counts since the last save to the stored ones; without any, nothing is written."""
        self._saved_at = self._time()
        unsaved = {name: record for name, record in self._unsaved.items() if record.calls}
        if not unsaved:
            return
        self._unsaved.update(dict.fromkeys(unsaved, ProviderRecord()))
        self._stored.update({name: self._stored[name].plus(unsaved[name]) for name in unsaved})
        with anyio.move_on_after(SAVE_TIMEOUT_S, shield=True):
            stored = await self._read()
            sums = {name: stored[name].plus(record) for name, record in unsaved.items()}
            await self._state.save(KIND, {name: asdict(record) for name, record in sums.items()})
            self._stored = stored | sums

    async def _read(self) -> dict[str, ProviderRecord]:
        saved = await self._state.load(KIND)
        return {name: self._plausible(record_from(saved.get(name))) for name in self._unsaved}

    def _plausible(self, record: ProviderRecord) -> ProviderRecord:
        """Without a breaker state of the future: after the clock was set back it would apply until then."""
        ahead = record.breaker.at > self._time() + SAVE_EVERY_S
        return replace(record, breaker=BreakerState()) if ahead else record

    def _add(self, name: str, record: ProviderRecord) -> None:
        self._unsaved[name] = self._unsaved[name].plus(record)

    def _record(self, name: str) -> ProviderRecord:
        return self._stored[name].plus(self._unsaved[name])

    def _status(self, name: str) -> ProviderStatus:
        record = self._record(name)
        ordered = sorted(record.latencies_ms)
        return ProviderStatus(
            name,
            record.calls,
            record.failures,
            percentile(ordered, 0.5),
            percentile(ordered, 0.95),
            record.breaker.quota,
            record.last_failure,
            self._health(record.breaker),
        )

    def _health(self, breaker: BreakerState) -> BreakerHealth:
        if not breaker.open_until:
            return BreakerHealth.CLOSED
        return BreakerHealth.OPEN if self._time() < breaker.open_until else BreakerHealth.HALF_OPEN


def percentile(ordered: list[int], share: float) -> int | None:
    """The smallest value that at least `share` of the values do not exceed."""
    if not ordered:
        return None
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def record_from(saved: Mapping[str, Any] | None) -> ProviderRecord:
    """A saved record; an empty one if another version wrote it in another format."""
    if not saved:
        return ProviderRecord()
    try:
        breaker = saved["breaker"]
        quota = breaker["quota"]
        failure = saved["last_failure"]
        return ProviderRecord(
            int(saved["calls"]),
            {str(kind): int(count) for kind, count in saved["failures"].items()},
            tuple(int(value) for value in saved["latencies_ms"]),
            Failure(str(failure["kind"]), float(failure["at"])) if failure else None,
            replace(_breaker(breaker), quota=_quota(quota) if quota else None),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return ProviderRecord()


def _breaker(saved: Mapping[str, Any]) -> BreakerState:
    return BreakerState(float(saved["at"]), int(saved["failures"]), float(saved["open_until"]))


def _quota(saved: Mapping[str, Any]) -> Quota:
    limit, reset_at = saved["limit"], saved["reset_at"]
    return Quota(
        int(saved["left"]),
        None if limit is None else int(limit),
        None if reset_at is None else float(reset_at),
    )


def _latest(one: Failure | None, other: Failure | None) -> Failure | None:
    if one is None or other is None:
        return one or other
    return other if other.at >= one.at else one
