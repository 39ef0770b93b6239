"""Headers that both HTTP clients read alike."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, 10.2.3), or None if it says nothing."""
    if value is None or not value.isascii():
        return None
    with suppress(ValueError):
        seconds = float(value)
        return seconds if seconds >= 0 and math.isfinite(seconds) else None
    with suppress(ValueError):
        moment = parsedate_to_datetime(value)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - now).total_seconds())
    return None
