"""The clock that the program passes around."""

from datetime import UTC, datetime

import pytest

from kindly.clock import SYSTEM_CLOCK, Clock


def test_wall_time_counts_from_the_epoch() -> None:
    assert SYSTEM_CLOCK.time() > 1_700_000_000


def test_now_is_the_wall_time_as_a_utc_date() -> None:
    clock = Clock(time=lambda: 1_800_000_000.25)
    assert clock.now() == datetime(2027, 1, 15, 8, 0, 0, 250_000, UTC)


@pytest.mark.anyio
async def test_monotonic_time_never_goes_backwards() -> None:
    first = SYSTEM_CLOCK.monotonic()
    assert SYSTEM_CLOCK.monotonic() >= first


def test_random_numbers_are_at_least_zero_and_below_one() -> None:
    assert all(0 <= SYSTEM_CLOCK.random() < 1 for _ in range(100))
