"""The facts about a provider: its pace, and its key as a header."""

import pytest

from kindly.errors import ProviderAuth
from kindly.search.provider import Pace, reveal
from kindly.search.providers.serper import SPEC
from tests.support.fakes import FakeSecret


@pytest.mark.parametrize(
    ("pace", "per_minute", "burst", "expected"),
    [
        (Pace(1, 1), None, False, Pace(1, 1)),
        (Pace(1, 1), 90, False, Pace(1, 1)),
        (Pace(1, 1), 90, True, Pace(1, 1)),
        (Pace(1, 1), 30, False, Pace(1, 2)),
        (Pace(1, 1), 30, True, Pace(30, 60)),
        (Pace(50, 1), 30, False, Pace(30, 60)),
        (Pace(100, 60), 30, False, Pace(30, 60)),
    ],
    ids=[
        "no bound",
        "already slower",
        "already slower, burst",
        "spread out",
        "a burst is allowed",
        "in one burst",
        "same window",
    ],
)
def test_a_bound_slows_a_pace_and_never_speeds_it(
    pace: Pace, per_minute: int | None, burst: bool, expected: Pace
) -> None:
    assert pace.at_most(per_minute, burst=burst) == expected


def test_a_key_is_revealed_for_a_header() -> None:
    assert reveal(FakeSecret("canary-1"), SPEC) == "canary-1"


@pytest.mark.parametrize("key", ["", "two\nlines", "schlüssel"], ids=["empty", "line", "umlaut"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ProviderAuth) as caught:
        reveal(FakeSecret(key), SPEC)
    assert "SERPER_API_KEY" in caught.value.detail
    assert not key or key not in caught.value.detail
