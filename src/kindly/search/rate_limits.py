"""What a provider's answers say about its limits: headers in; how much quota is left, at what pace and from when on
it may be asked, out.

Reads `X-RateLimit-*` (with several windows in one header, as Brave sends them), the IETF draft's `RateLimit` and
`RateLimit-*`, and `Retry-After`. What cannot be read says nothing. Never raises, never waits.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kindly.clock import Clock
from kindly.concurrency.cooldown import Cooldown
from kindly.net.retry_after import retry_after_s
from kindly.search.provider import Pace

MAX_PAUSE_S = 86_400.0
"""The longest a provider is left alone: within a day somebody may have bought a larger plan."""
MAX_PACE_WINDOW_S = 60.0
"""Longer windows are quotas, not paces."""
EPOCH_FROM_S = 1e9
"""A reset that is larger is a moment, a smaller one a number of seconds."""
EPOCH_MS_FROM = 1e12

PREFIXES = ("x-ratelimit-", "ratelimit-")
PARAMETER = re.compile(r';\s*([a-z]+)\s*=\s*"?(\d+)')


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of the largest window that a provider told of."""

    left: int
    limit: int | None = None
    reset_at: float | None = None
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class QuotaWindow:
    """One limit as headers tell it."""

    left: int
    limit: int | None
    reset_s: float | None
    """From now."""


class RateLimits:
    """The limits of one provider, learned from its answers."""

    def __init__(
        self,
        clock: Clock,
        per_minute: int | None = None,
    ) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._cooldown = Cooldown(clock.monotonic)
        self.quota: Quota | None = None
        self.pace: Pace | None = None
        """How often it may be asked, where it said so."""

    @property
    def pause_s(self) -> float:
        """Seconds for which the provider is not to be asked; zero when it may be."""
        return self._cooldown.remaining_s

    def note(self, headers: Mapping[str, str]) -> None:
        """Learn from the headers of any answer."""
        told = {name.lower(): value for name, value in headers.items()}
        if (wait_s := retry_after_s(told.get("retry-after"), self._clock.now())) is not None:
            self.pause(wait_s)
        windows = list(windows_in(told, self._clock.time()))
        for window in windows:
            if window.left <= 0 and window.reset_s is not None:
                self.pause(window.reset_s)
        if windows:
            self.quota = self._quota(max(windows, key=_size))
        if pace := pace_in(told):
            self.pace = pace.at_most(self._per_minute)

    def pause(self, seconds: float) -> None:
        """Leave the provider alone for that long, or for longer if that was said before."""
        self._cooldown.start(min(seconds, MAX_PAUSE_S))

    def _quota(self, window: QuotaWindow) -> Quota:
        reset_at = None if window.reset_s is None else self._clock.time() + window.reset_s
        return Quota(max(0, window.left), window.limit, reset_at)


def windows_in(headers: Mapping[str, str], now: float) -> Iterator[QuotaWindow]:
    """The limits that headers with lower-case names tell of. One of zero is no limit at all."""
    for prefix in PREFIXES:
        lefts = _numbers(headers.get(prefix + "remaining"))
        limits = _numbers(headers.get(prefix + "limit"))
        resets = _numbers(headers.get(prefix + "reset"))
        for index, left in enumerate(lefts):
            limit = limits[index] if index < len(limits) else None
            reset = resets[index] if index < len(resets) else None
            if left is not None and limit != 0:
                yield QuotaWindow(
                    int(left), None if limit is None else int(limit), _reset_s(reset, now)
                )
    for item in headers.get("ratelimit", "").split(","):
        parameters = _parameters(item)
        if "r" in parameters:
            reset_s = parameters.get("t")
            yield QuotaWindow(
                parameters["r"], parameters.get("q"), None if reset_s is None else float(reset_s)
            )


def pace_in(headers: Mapping[str, str]) -> Pace | None:
    """The pace that a policy header tells of: its shortest window of at most a minute."""
    paces: list[Pace] = []
    for prefix in PREFIXES:
        for item in headers.get(prefix + "policy", "").split(","):
            parameters = _parameters(item)
            first = item.partition(";")[0].strip()
            calls = parameters.get("q", int(first) if first.isdecimal() else 0)
            window_s = parameters.get("w", 0)
            if calls and 0 < window_s <= MAX_PACE_WINDOW_S:
                paces.append(Pace(calls, window_s))
    return min(paces, key=lambda pace: pace.per_s, default=None)


def _size(window: QuotaWindow) -> tuple[int, float]:
    return window.limit or 0, window.reset_s or 0.0


def _numbers(value: str | None) -> list[float | None]:
    return [_number(part) for part in value.split(",")] if value else []


def _number(text: str) -> float | None:
    try:
        number = float(text.partition(";")[0])
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _reset_s(value: float | None, now: float) -> float | None:
    if value is None or value < EPOCH_FROM_S:
        return value
    at = value / 1000 if value >= EPOCH_MS_FROM else value
    return max(0.0, at - now)


def _parameters(item: str) -> dict[str, int]:
    return {name: int(digits) for name, digits in PARAMETER.findall(item)}
