"""What is known of one instance, what an answer or a failure does to that, and who may be asked now.

Pure: time and chance are arguments. A record holds times and counts, never what was searched for.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from kindly.errors import (
    CertificateRefused,
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderBlocked,
    ProviderRateLimited,
    SearchError,
)
from kindly.search.provider import Pace
from kindly.search.searxng.instance_list import Instance
from kindly.search.searxng.pool_settings import PoolSettings
from kindly.search.state.state import Json

REFUSALS = (ProviderRateLimited, ProviderBlocked, ProviderAuth)
"""The instance answers, but not us: its limiter, a ban (HTTP 403) or a challenge."""
MARGIN_S = 1.0
"""Added to every window: clocks differ a little."""
TICK_S = 1e-5
MAX_DOUBLINGS = 20


@dataclass(frozen=True, slots=True)
class InstanceRequest:
    """One request to an instance."""

    begun: float
    over: float
    """The latest moment at which it may have reached the instance: known once it ended, feared until then."""


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    """What is known of one instance."""

    asked: tuple[InstanceRequest, ...] = ()
    """Requests of the last hour or so."""
    failures: int = 0
    """In a row, probes included."""
    strikes: int = 0
    """Refusals and benches in a row: the exponent of the rest."""
    nonsense: int = 0
    """Unreadable answers in a row."""
    failing_since: float = 0.0
    """When the row began."""
    rests_until: float = 0.0
    """A failure's rest; ended by a probe that succeeds."""
    refused_until: float = 0.0
    """A refusal's rest; no probe ends it."""
    blacklisted_until: float = 0.0
    heard_at: float = 0.0
    """The last answer or successful probe."""
    checked_at: float = 0.0
    """The last probe, or answer."""
    updated_at: float = 0.0


COUNTS = ("failures", "strikes", "nonsense")
TIMES = tuple(
    field.name for field in fields(InstanceRecord) if field.name not in (*COUNTS, "asked")
)


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened to an instance, and what else bears on it."""

    now: float
    chance: float = 0.0
    """From 0 up to 1."""
    answered_at: float = 0.0
    """When any instance answered last. Nobody is blacklisted while nobody answers: the fault may be ours."""


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance with its record and the moment from which it may be asked."""

    instance: Instance
    record: InstanceRecord
    free_at: float


def beginning(record: InstanceRecord, now: float) -> float:
    """When a request begins: now, or a moment later, as no two of one instance may begin at once."""
    latest = max((asked.begun for asked in record.asked), default=0.0)
    return now if now > latest else latest + TICK_S


def after_start(
    record: InstanceRecord, begun: float, over: float, limits: tuple[Pace, ...]
) -> InstanceRecord:
    """A request begins; it is counted as if it reached the instance at `over`."""
    horizon = begun - max(pace.per_s for pace in limits) - 2 * MARGIN_S
    kept = tuple(asked for asked in record.asked if asked.over > horizon)
    return replace(record, asked=(*kept, InstanceRequest(begun, over)), updated_at=begun)


def after_end(record: InstanceRecord, begun: float, now: float) -> InstanceRecord:
    """The request that began then is over."""
    asked = tuple(
        replace(asked, over=now) if asked.begun == begun else asked for asked in record.asked
    )
    return replace(record, asked=asked, updated_at=now)


def after_success(record: InstanceRecord, now: float) -> InstanceRecord:
    """It answered: all is forgiven but the count of requests."""
    return InstanceRecord(asked=record.asked, heard_at=now, checked_at=now, updated_at=now)


def after_failure(
    record: InstanceRecord, error: SearchError, moment: Moment, settings: PoolSettings
) -> InstanceRecord:
    """It did not answer: a rest by the kind of failure, and the blacklist for what does not mend."""
    now = moment.now
    failed = replace(record, failing_since=record.failing_since or now, updated_at=now)
    asked_for = now + min(error.retry_after_s or 0.0, settings.blacklist_s)
    if isinstance(error, CertificateRefused):
        return replace(failed, blacklisted_until=now + settings.blacklist_s)
    failed = replace(failed, nonsense=record.nonsense + isinstance(error, ProviderAnswerInvalid))
    if is_refusal(error):
        struck = replace(failed, strikes=record.strikes + 1)
        until = max(now + backoff_s(struck.strikes, moment.chance, settings), asked_for)
        return _judged(replace(struck, refused_until=until), moment, settings)
    failed = replace(
        failed,
        failures=record.failures + 1,
        refused_until=max(record.refused_until, asked_for if error.retry_after_s else 0.0),
    )
    if failed.failures < settings.max_consecutive_failures:
        rested = replace(failed, rests_until=now + settings.failed_rest_s)
    else:
        strikes = record.strikes + 1
        rest_s = backoff_s(strikes, moment.chance, settings)
        rested = replace(failed, strikes=strikes, rests_until=now + rest_s)
    return _judged(rested, moment, settings)


def is_refusal(error: SearchError) -> bool:
    """Whether the instance is there but will not serve us.

    A redirect is one too: SearXNG's limiter sends those it suspects to the front page.
    """
    return isinstance(error, REFUSALS) or (
        isinstance(error, ProviderAnswerInvalid) and 300 <= (error.status or 0) < 400
    )


def after_probe(record: InstanceRecord, now: float) -> InstanceRecord:
    """The front page came: a bench is over. A refusal's rest stays, as limiters guard only the search."""
    return replace(
        record, failures=0, rests_until=0.0, heard_at=now, checked_at=now, updated_at=now
    )


def after_failed_probe(
    record: InstanceRecord, error: SearchError, now: float, settings: PoolSettings
) -> InstanceRecord:
    """The front page did not come: one failure more, and no search is spent on a benched one before its next probe."""
    failures = record.failures + 1
    failed = replace(
        record,
        failures=failures,
        failing_since=record.failing_since or now,
        checked_at=now,
        updated_at=now,
    )
    if isinstance(error, CertificateRefused):
        return replace(failed, blacklisted_until=now + settings.blacklist_s)
    benched = failures >= settings.max_consecutive_failures
    rest_s = settings.health_check_interval_s if benched else settings.failed_rest_s
    return replace(failed, rests_until=max(record.rests_until, now + rest_s))


def backoff_s(strikes: int, chance: float, settings: PoolSettings) -> float:
    """The rest after that many strikes in a row: doubling, capped, and by chance a little longer."""
    doubled = math.ldexp(settings.rate_limit_backoff_base_s, min(strikes - 1, MAX_DOUBLINGS))
    return min(doubled, settings.backoff_cap_s) * (1 + settings.backoff_jitter * chance)


def free_at(record: InstanceRecord, limits: tuple[Pace, ...]) -> float:
    """The moment from which the instance may be asked: past its rests, and within every limit."""
    free = max(record.rests_until, record.refused_until, record.blacklisted_until)
    ends = sorted(asked.over for asked in record.asked)
    for pace in limits:
        if len(ends) >= pace.calls:
            free = max(free, ends[-int(pace.calls)] + pace.per_s + MARGIN_S)
    return free


def is_busy(record: InstanceRecord, now: float) -> bool:
    """Whether a request to it is under way."""
    return any(asked.over > now for asked in record.asked)


def in_turn(standings: Iterable[InstanceState], now: float) -> list[InstanceState]:
    """Who may be asked now, in order: idle before busy, then by grade, then who was asked longest ago.

    Those never asked stay in the order given.
    """
    ready = [standing for standing in standings if standing.free_at <= now]
    return sorted(
        ready,
        key=lambda standing: (
            is_busy(standing.record, now),
            standing.instance.tier,
            max((asked.begun for asked in standing.record.asked), default=0.0),
        ),
    )


def is_probe_due(record: InstanceRecord, now: float, settings: PoolSettings) -> bool:
    """Whether to look after it: benched, never heard from, or silent for long; never one that refuses us."""
    if max(record.blacklisted_until, record.refused_until) > now:
        return False
    waited_s = now - record.checked_at
    if record.failures >= settings.max_consecutive_failures:
        return waited_s >= settings.health_check_interval_s
    return waited_s >= settings.idle_check_s


def merged(ours: InstanceRecord, theirs: InstanceRecord) -> InstanceRecord:
    """What two servers that share a memory know together: the newer judgement, and the requests of both."""
    newer = theirs if theirs.updated_at > ours.updated_at else ours
    by_begin: dict[float, float] = {}
    for asked in (*ours.asked, *theirs.asked):
        by_begin[asked.begun] = min(asked.over, by_begin.get(asked.begun, math.inf))
    union = tuple(InstanceRequest(begun, over) for begun, over in sorted(by_begin.items()))
    return replace(newer, asked=union)


def to_json(record: InstanceRecord) -> Json:
    """As the memory keeps it."""
    kept: Json = {name: getattr(record, name) for name in COUNTS + TIMES}
    kept["asked"] = [[asked.begun, asked.over] for asked in record.asked]
    return kept


def from_json(kept: Mapping[str, object], now: float, settings: PoolSettings) -> InstanceRecord:
    """From memory; what cannot be read counts as unknown, and no time lies further ahead than rules can put it.

    A clock that was set back would otherwise shut instances out for as long.
    """

    def moment(name: str, latest: float) -> float:
        return min(_number(kept.get(name)) or 0.0, latest)

    def count(name: str) -> int:
        return int(_number(kept.get(name)) or 0)

    rested = now + settings.blacklist_s
    return InstanceRecord(
        asked=tuple(_asked_from(kept.get("asked"), now, settings)),
        failures=count("failures"),
        strikes=count("strikes"),
        nonsense=count("nonsense"),
        failing_since=moment("failing_since", now),
        rests_until=moment("rests_until", rested),
        refused_until=moment("refused_until", rested),
        blacklisted_until=moment("blacklisted_until", rested),
        heard_at=moment("heard_at", now),
        checked_at=moment("checked_at", now),
        updated_at=moment("updated_at", now),
    )


def _asked_from(pairs: object, now: float, settings: PoolSettings) -> Iterator[InstanceRequest]:
    for pair in pairs if isinstance(pairs, list) else []:
        begun, over = (
            map(_number, pair) if isinstance(pair, list) and len(pair) == 2 else (None, None)
        )
        if begun is not None and over is not None:
            yield InstanceRequest(
                min(begun, now), min(over, now + settings.health_check_interval_s)
            )


def _judged(record: InstanceRecord, moment: Moment, settings: PoolSettings) -> InstanceRecord:
    """The record, blacklisted if it fails for long while others answer."""
    does_not_mend = (
        record.strikes >= settings.blacklist_after_strikes
        or record.nonsense >= settings.blacklist_after_nonsense
    )
    if does_not_mend and moment.answered_at > record.failing_since:
        return replace(record, blacklisted_until=moment.now + settings.blacklist_s)
    return record


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e12 else None
