"""One warning per reason."""

import pytest

from kindly.telemetry.warn_once import MAX_REASONS, QUIET_S, WarnOnce
from tests.support.fakes import FakeClock


def test_a_reason_is_logged_once_per_quiet_time(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    warnings = WarnOnce(clock)
    warnings.warn("full", "The cache.")
    warnings.warn("full", "The library.")
    warnings.warn("locked", "The library.")
    clock.advance(QUIET_S)
    warnings.warn("full", "The cache again.")
    assert caplog.messages == ["The cache.", "The library.", "The cache again."]


def test_the_number_of_reasons_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    warnings = WarnOnce(FakeClock())
    for number in range(MAX_REASONS):
        warnings.warn(f"reason {number}", "words")
    warnings.warn("one more", "words")
    warnings.warn("reason 0", "words")
    assert len(caplog.records) == MAX_REASONS + 2
