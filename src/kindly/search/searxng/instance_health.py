"""The health of one instance: a record of its requests and failures, and how each event changes it.

Pure: time and randomness are arguments. Failures lead to exponential back-off, lasting ones to the blacklist. A record
contains times and counts, never a query.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from kindly.errors import (
    CertificateRefused,
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderBlocked,
    ProviderRateLimited,
    SearchError,
)
from kindly.frozen import frozen
from kindly.search.pool_settings import PoolSettings
from kindly.search.provider import Pace
from kindly.storage.state import Json

REFUSALS = (ProviderRateLimited, ProviderBlocked, ProviderAuth)
"""The instance works but does not serve us: its rate limiter, a ban (HTTP 403) or a challenge."""
CLOCK_MARGIN_S = 1.0
"""Added to every rate-limit window, because clocks differ a little."""
TICK_S = 1e-5
MAX_DOUBLINGS = 20

MAX_BACKOFF_S = 1800.0
"""The longest back-off, except for Retry-After. An instance that refuses us is then called twice an hour, half of what
its rate limiter allows."""
BACKOFF_JITTER = 0.25
"""A back-off is up to this share longer, so that instances do not all return at the same time."""
FAILURE_PAUSE_S = 30.0
"""The pause after a failure that does not yet start the back-off."""
BLACKLIST_AFTER_BACKOFFS = 40
"""In a row, about 19 hours of them, while other instances answered."""
BLACKLIST_AFTER_UNREADABLE = 5
"""Unreadable answers in a row, while other instances answered."""
BLACKLIST_S = 3 * 86_400.0
IDLE_CHECK_S = 3600.0
"""An instance that did not answer for so long is probed."""


@frozen
class InstanceRequest:
    """One request to an instance."""

    begun: float
    over: float
    """The latest moment at which the instance may have received it: the deadline until the request has ended."""


@frozen
class FailureContext:
    """When a failure happened, and what else decides about its consequences."""

    now: float
    random: float = 0.0
    """From 0 to 1."""
    last_answer_at: float = 0.0
    """When any instance answered last. While none answers none is blacklisted: our own network may be down."""


@frozen
class InstanceRecord:
    """What is known of one instance. Every method returns a changed copy."""

    requests: tuple[InstanceRequest, ...] = ()
    """Those that still count for a rate limit."""
    failures: int = 0
    """In a row, failed probes included."""
    backoffs: int = 0
    """In a row: the exponent of the back-off."""
    unreadable: int = 0
    """Unreadable answers in a row."""
    failing_since: float = 0.0
    paused_until: float = 0.0
    """After failures; a successful probe ends it."""
    refused_until: float = 0.0
    """After refusals; a probe does not end it."""
    blacklisted_until: float = 0.0
    checked_at: float = 0.0
    """The last answer or probe."""
    updated_at: float = 0.0

    def next_start(self, now: float) -> float:
        """When a request starts: now, or just after the last one, since starts identify requests."""
        latest = max((request.begun for request in self.requests), default=0.0)
        return now if now > latest else latest + TICK_S

    def started(self, begun: float, over: float, limits: tuple[Pace, ...]) -> "InstanceRecord":
        """A request starts; it counts as if the instance received it at `over`."""
        horizon = begun - max(pace.per_s for pace in limits) - 2 * CLOCK_MARGIN_S
        recent = tuple(request for request in self.requests if request.over > horizon)
        return replace(self, requests=(*recent, InstanceRequest(begun, over)), updated_at=begun)

    def ended(self, begun: float, now: float) -> "InstanceRecord":
        """The request that started at `begun` has ended."""
        requests = tuple(
            replace(request, over=now) if request.begun == begun else request
            for request in self.requests
        )
        return replace(self, requests=requests, updated_at=now)

    def succeeded(self, now: float) -> "InstanceRecord":
        """It answered: everything is reset except the requests."""
        return InstanceRecord(requests=self.requests, checked_at=now, updated_at=now)

    def failed(
        self, error: SearchError, context: FailureContext, settings: PoolSettings
    ) -> "InstanceRecord":
        """A search failed: pause, back off or blacklist, by the kind of failure."""
        now = context.now
        failed = replace(self, failing_since=self.failing_since or now, updated_at=now)
        retry_at = now + min(error.retry_after_s or 0.0, BLACKLIST_S)
        if isinstance(error, CertificateRefused):
            return replace(failed, blacklisted_until=now + BLACKLIST_S)
        unreadable = self.unreadable + isinstance(error, ProviderAnswerInvalid)
        failed = replace(failed, unreadable=unreadable)
        if is_refusal(error):
            backoffs = self.backoffs + 1
            until = max(now + backoff_s(backoffs, context.random, settings), retry_at)
            refused = replace(failed, backoffs=backoffs, refused_until=until)
            return refused._blacklisted_if_lasting(context)
        failures = self.failures + 1
        failed = replace(
            failed,
            failures=failures,
            refused_until=max(self.refused_until, retry_at if error.retry_after_s else 0.0),
        )
        if failures < settings.max_consecutive_failures:
            paused = replace(failed, paused_until=now + FAILURE_PAUSE_S)
        else:
            backoffs = self.backoffs + 1
            pause_s = backoff_s(backoffs, context.random, settings)
            paused = replace(failed, backoffs=backoffs, paused_until=now + pause_s)
        return paused._blacklisted_if_lasting(context)

    def probe_succeeded(self, now: float) -> "InstanceRecord":
        """A probe succeeded. A refusal still counts, because rate limiters guard only the search."""
        return replace(self, failures=0, paused_until=0.0, checked_at=now, updated_at=now)

    def probe_failed(
        self, error: SearchError, now: float, settings: PoolSettings
    ) -> "InstanceRecord":
        """A probe failed: one more failure. An instance in back-off is not searched before its next probe."""
        failures = self.failures + 1
        failed = replace(
            self,
            failures=failures,
            failing_since=self.failing_since or now,
            checked_at=now,
            updated_at=now,
        )
        if isinstance(error, CertificateRefused):
            return replace(failed, blacklisted_until=now + BLACKLIST_S)
        in_backoff = failures >= settings.max_consecutive_failures
        pause_s = settings.health_check_interval_s if in_backoff else FAILURE_PAUSE_S
        return replace(failed, paused_until=max(self.paused_until, now + pause_s))

    def free_at(self, limits: tuple[Pace, ...]) -> float:
        """The moment from which it may be called: after its pauses, and within every rate limit."""
        free = max(self.paused_until, self.refused_until, self.blacklisted_until)
        ends = sorted(request.over for request in self.requests)
        for pace in limits:
            if len(ends) >= pace.calls:
                free = max(free, ends[-int(pace.calls)] + pace.per_s + CLOCK_MARGIN_S)
        return free

    def is_busy(self, now: float) -> bool:
        """Whether a request to it is running."""
        return any(request.over > now for request in self.requests)

    def needs_probe(self, now: float, settings: PoolSettings) -> bool:
        """Whether to probe it: in back-off, or without an answer for long; never one that refuses us."""
        if max(self.blacklisted_until, self.refused_until) > now:
            return False
        waited_s = now - self.checked_at
        if self.failures >= settings.max_consecutive_failures:
            return waited_s >= settings.health_check_interval_s
        return waited_s >= IDLE_CHECK_S

    def merged(self, other: "InstanceRecord") -> "InstanceRecord":
        """The records of two servers that share a state: the newer health, and the requests of both."""
        newer = other if other.updated_at > self.updated_at else self
        over_by_start: dict[float, float] = {}
        for request in (*self.requests, *other.requests):
            known = over_by_start.get(request.begun, math.inf)
            over_by_start[request.begun] = min(request.over, known)
        requests = (InstanceRequest(begun, over) for begun, over in sorted(over_by_start.items()))
        return replace(newer, requests=tuple(requests))

    def _blacklisted_if_lasting(self, context: FailureContext) -> "InstanceRecord":
        """Blacklisted, if it has failed for long while other instances answered."""
        lasting = (
            self.backoffs >= BLACKLIST_AFTER_BACKOFFS
            or self.unreadable >= BLACKLIST_AFTER_UNREADABLE
        )
        if lasting and context.last_answer_at > self.failing_since:
            return replace(self, blacklisted_until=context.now + BLACKLIST_S)
        return self


COUNTS = ("failures", "backoffs", "unreadable")
TIMES = tuple(
    field.name for field in fields(InstanceRecord) if field.name not in (*COUNTS, "requests")
)


def is_refusal(error: SearchError) -> bool:
    """Whether the instance works but refuses us.

    A redirect is a refusal: SearXNG's rate limiter redirects clients that it suspects to the front page.
    """
    return isinstance(error, REFUSALS) or (
        isinstance(error, ProviderAnswerInvalid) and 300 <= (error.status or 0) < 400
    )


def backoff_s(backoffs: int, random: float, settings: PoolSettings) -> float:
    """The back-off after that many in a row: doubling, capped, with jitter."""
    doubled = math.ldexp(settings.rate_limit_backoff_base_s, min(backoffs - 1, MAX_DOUBLINGS))
    return min(doubled, MAX_BACKOFF_S) * (1 + BACKOFF_JITTER * random)


def to_json(record: InstanceRecord) -> Json:
    """The record as it is saved."""
    saved: Json = {name: getattr(record, name) for name in COUNTS + TIMES}
    saved["requests"] = [[request.begun, request.over] for request in record.requests]
    return saved


def from_json(saved: Mapping[str, object], now: float, settings: PoolSettings) -> InstanceRecord:
    """A saved record. Values that cannot be read count as unknown, and no time is further ahead than the rules allow.

    Otherwise a clock that was set back would exclude instances for as long.
    """

    def moment(name: str, latest: float) -> float:
        return min(_number(saved.get(name)) or 0.0, latest)

    def count(name: str) -> int:
        return int(_number(saved.get(name)) or 0)

    latest = now + BLACKLIST_S
    return InstanceRecord(
        requests=tuple(_requests(saved.get("requests"), now, settings)),
        failures=count("failures"),
        backoffs=count("backoffs"),
        unreadable=count("unreadable"),
        failing_since=moment("failing_since", now),
        paused_until=moment("paused_until", latest),
        refused_until=moment("refused_until", latest),
        blacklisted_until=moment("blacklisted_until", latest),
        checked_at=moment("checked_at", now),
        updated_at=moment("updated_at", now),
    )


def _requests(pairs: object, now: float, settings: PoolSettings) -> Iterator[InstanceRequest]:
    for pair in pairs if isinstance(pairs, list) else []:
        begun, over = (
            map(_number, pair) if isinstance(pair, list) and len(pair) == 2 else (None, None)
        )
        if begun is not None and over is not None:
            yield InstanceRequest(
                min(begun, now), min(over, now + settings.health_check_interval_s)
            )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e12 else None
