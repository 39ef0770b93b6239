"""Rate-limit headers: `Retry-After`, `X-RateLimit-*` and the IETF draft's `RateLimit`, `RateLimit-*`.

Pure. Names are expected in lower case. A header that cannot be read counts as absent; nothing here raises.
"""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from kindly.frozen import frozen

EPOCH_FROM_S = 1e9
"""A larger reset is a moment in seconds since the epoch; a smaller one is a number of seconds."""
EPOCH_MS_FROM = 1e12

PREFIXES = ("x-ratelimit-", "ratelimit-")
PARAMETER = re.compile(r';\s*([a-z]+)\s*=\s*"?(\d+)')


@frozen
class QuotaWindow:
    """One rate-limit window."""

    remaining: int
    limit: int | None
    reset_s: float | None
    """From now."""


@frozen
class QuotaPolicy:
    """How many calls a window allows."""

    calls: int
    window_s: int


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, 10.2.3); None if it cannot be read."""
    if value is None or not value.isascii():
        return None
    with suppress(ValueError):
        seconds = float(value)
        return seconds if seconds >= 0 and math.isfinite(seconds) else None
    from email.utils import parsedate_to_datetime

    with suppress(ValueError):
        date = parsedate_to_datetime(value)
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (aware - now).total_seconds())
    return None


def exhausted_s(headers: Mapping[str, str], now: datetime) -> float:
    """Seconds until every window with nothing remaining is reset; zero if there is none."""
    return max(
        (
            window.reset_s
            for window in quota_windows(headers, now)
            if window.remaining <= 0 and window.reset_s is not None
        ),
        default=0.0,
    )


def quota_windows(headers: Mapping[str, str], now: datetime) -> Iterator[QuotaWindow]:
    """The windows of an answer. Brave sends several in one header; a limit of zero means no limit."""
    for prefix in PREFIXES:
        remainings = _numbers(headers.get(prefix + "remaining"))
        limits = _numbers(headers.get(prefix + "limit"))
        resets = _numbers(headers.get(prefix + "reset"))
        for index, remaining in enumerate(remainings):
            limit = limits[index] if index < len(limits) else None
            reset = resets[index] if index < len(resets) else None
            if remaining is not None and limit != 0:
                yield QuotaWindow(
                    int(remaining), None if limit is None else int(limit), _reset_s(reset, now)
                )
    for item in headers.get("ratelimit", "").split(","):
        parameters = _parameters(item)
        if "r" in parameters:
            reset_s = parameters.get("t")
            yield QuotaWindow(
                parameters["r"], parameters.get("q"), None if reset_s is None else float(reset_s)
            )


def quota_policies(headers: Mapping[str, str]) -> Iterator[QuotaPolicy]:
    """The policies of an answer, such as `15000;w=2592000`."""
    for prefix in PREFIXES:
        for item in headers.get(prefix + "policy", "").split(","):
            parameters = _parameters(item)
            first = item.partition(";")[0].strip()
            calls = parameters.get("q", int(first) if first.isdecimal() else 0)
            window_s = parameters.get("w", 0)
            if calls and window_s:
                yield QuotaPolicy(calls, window_s)


def _numbers(value: str | None) -> list[float | None]:
    return [_number(part) for part in value.split(",")] if value else []


def _number(text: str) -> float | None:
    try:
        number = float(text.partition(";")[0])
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _reset_s(value: float | None, now: datetime) -> float | None:
    if value is None or value < EPOCH_FROM_S:
        return value
    reset_at = value / 1000 if value >= EPOCH_MS_FROM else value
    return max(0.0, reset_at - now.timestamp())


def _parameters(item: str) -> dict[str, int]:
    return {name: int(digits) for name, digits in PARAMETER.findall(item)}
