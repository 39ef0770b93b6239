"""What stores agree on: eviction, models, moments."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from kindly.read.row_format import (
    EvictionCandidate,
    from_micros,
    from_path,
    outdated,
    to_micros,
    to_path,
)

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
PAGES = [EvictionCandidate(f"p{day}", NOON - timedelta(days=day), 10) for day in range(5)]


@pytest.mark.parametrize(
    ("max_bytes", "days", "gone"),
    [
        (1000, 99, []),
        (1000, 2.5, ["p3", "p4"]),
        (30, 99, ["p3", "p4"]),
        (29, 99, ["p2", "p3", "p4"]),
        (0, 99, ["p0", "p1", "p2", "p3", "p4"]),
        (45, 3.5, ["p4"]),
    ],
)
def test_the_old_and_what_is_too_much_leave(max_bytes: int, days: float, gone: list[str]) -> None:
    shuffled = [PAGES[place] for place in (3, 0, 4, 1, 2)]
    assert outdated(shuffled, max_bytes, NOON - timedelta(days=days)) == gone


@pytest.mark.parametrize("section", [(), ("a",), ('quo"te', "b > c", "日本")])
def test_headings_come_back_from_their_field(section: tuple[str, ...]) -> None:
    assert from_path(to_path(section)) == section


def test_moments_come_back_to_the_microsecond() -> None:
    moment = datetime(2026, 11, 16, 1, 2, 3, 456789, tzinfo=timezone(timedelta(hours=5)))
    assert from_micros(to_micros(moment)) == moment
