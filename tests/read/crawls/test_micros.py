"""Times as microseconds."""

from datetime import datetime, timedelta, timezone

from kindly.read.crawls.micros import from_micros, to_micros


def test_a_time_survives_to_the_microsecond() -> None:
    moment = datetime(2026, 11, 16, 1, 2, 3, 456789, tzinfo=timezone(timedelta(hours=5)))
    assert from_micros(to_micros(moment)) == moment
    assert to_micros(from_micros(1)) == 1
