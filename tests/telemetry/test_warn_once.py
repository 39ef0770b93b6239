"""One warning per reason."""

import pytest

from kindly.telemetry.warn_once import MAX_REASONS, QUIET_S, WarnOnce
from tests.support.fakes import FakeClock


def test_a_reason_is_logged_once_per_quiet_time(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    alarm = WarnOnce(clock)
    alarm.warn("full", "The cache.")
    alarm.warn("full", "The library.")
    alarm.warn("locked", "The library.")
    clock.advance(QUIET_S)
    alarm.warn("full", "The cache again.")
    assert caplog.messages == ["The cache.", "The library.", "The cache again."]


def test_the_number_of_reasons_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    alarm = WarnOnce(FakeClock())
    for number in range(MAX_REASONS):
        alarm.warn(f"reason {number}", "words")
    alarm.warn("one more", "words")
    alarm.warn("reason 0", "words")
    assert len(caplog.records) == MAX_REASONS + 2
