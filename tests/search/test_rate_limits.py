"""What a provider's response headers say about its limits."""

from email.utils import formatdate

import pytest

from kindly.search.provider import Pace
from kindly.search.rate_limits import MAX_PAUSE_S, Quota, RateLimits
from tests.support.fakes import FakeClock

NOW = 1_790_000_000.0

BRAVE = {
    "X-RateLimit-Limit": "1, 15000",
    "X-RateLimit-Policy": "1;w=1, 15000;w=2592000",
    "X-RateLimit-Remaining": "1, 1000",
    "X-RateLimit-Reset": "1, 1419704",
}


def fresh_limits() -> tuple[RateLimits, FakeClock]:
    clock = FakeClock(NOW)
    return RateLimits(clock.clock), clock


@pytest.mark.parametrize(
    ("headers", "pause_s", "quota"),
    [
        pytest.param({}, 0, None, id="silent"),
        pytest.param(BRAVE, 0, Quota(1000, 15000, NOW + 1_419_704), id="several-windows"),
        pytest.param(
            BRAVE | {"X-RateLimit-Remaining": "0, 999"},
            1,
            Quota(999, 15000, NOW + 1_419_704),
            id="second-spent",
        ),
        pytest.param(
            BRAVE | {"X-RateLimit-Remaining": "1, 0", "X-RateLimit-Reset": "1, 7200"},
            7200,
            Quota(0, 15000, NOW + 7200),
            id="month-spent",
        ),
        pytest.param(
            {
                "X-RateLimit-Limit": "50, 0",
                "X-RateLimit-Remaining": "49, 0",
                "X-RateLimit-Reset": "1, 1419704",
            },
            0,
            Quota(49, 50, NOW + 1),
            id="no-monthly-limit",
        ),
        pytest.param(
            {
                "x-ratelimit-limit": "60",
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": str(int(NOW) + 90),
            },
            90,
            Quota(0, 60, NOW + 90),
            id="epoch",
        ),
        pytest.param(
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW * 1000) + 5000)},
            5,
            Quota(0, None, NOW + 5),
            id="epoch-in-milliseconds",
        ),
        pytest.param(
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) - 90)},
            0,
            Quota(0, None, NOW),
            id="reset-is-over",
        ),
        pytest.param({"X-RateLimit-Remaining": "0"}, 0, Quota(0), id="reset-not-reported"),
        pytest.param(
            {"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "50"},
            50,
            Quota(0, 100, NOW + 50),
            id="ietf-fields",
        ),
        pytest.param(
            {"RateLimit": '"burst";r=0;t=3, "day";q=500;r=400;t=9000'},
            3,
            Quota(400, 500, NOW + 9000),
            id="ietf-structured",
        ),
        pytest.param({"RateLimit": '"default";r=7'}, 0, Quota(7), id="ietf-without-reset"),
        pytest.param({"Retry-After": "12"}, 12, None, id="retry-after"),
        pytest.param(
            {"Retry-After": formatdate(NOW + 30, usegmt=True)}, 30, None, id="retry-after-date"
        ),
        pytest.param({"Retry-After": "soon"}, 0, None, id="retry-after-nonsense"),
        pytest.param({"Retry-After": "99999999"}, MAX_PAUSE_S, None, id="retry-after-years"),
        pytest.param(
            {"X-RateLimit-Remaining": "many, nan, ", "X-RateLimit-Reset": "x"},
            0,
            None,
            id="nonsense",
        ),
    ],
)
def test_headers_pause_a_provider_and_report_its_quota(
    headers: dict[str, str], pause_s: float, quota: Quota | None
) -> None:
    limits, _ = fresh_limits()
    limits.learn(headers)
    assert limits.pause_s == pytest.approx(pause_s)
    assert limits.quota == quota


@pytest.mark.parametrize(
    ("headers", "pace"),
    [
        (BRAVE, Pace(1, 1)),
        ({"X-RateLimit-Policy": "20;w=1, 0;w=2592000"}, Pace(20, 1)),
        ({"RateLimit-Policy": '"burst";q=100;w=60, "day";q=1000;w=86400'}, Pace(100, 60)),
        ({"RateLimit-Policy": '"day";q=1000;w=86400'}, None),
        ({"RateLimit-Policy": "10"}, None),
        ({"RateLimit-Policy": "ten;w=1"}, None),
        ({}, None),
    ],
)
def test_policy_headers_report_the_pace(headers: dict[str, str], pace: Pace | None) -> None:
    limits, _ = fresh_limits()
    limits.learn(headers)
    assert limits.pace == pace


def test_limits_stay_when_a_response_has_no_such_headers() -> None:
    limits, clock = fresh_limits()
    limits.learn(BRAVE | {"Retry-After": "10"})
    clock.advance(4)
    limits.learn({})
    assert limits.pause_s == pytest.approx(6)
    assert limits.quota == Quota(1000, 15000, NOW + 1_419_704)
    assert limits.pace == Pace(1, 1)


def test_a_shorter_pause_does_not_shorten_a_longer_one() -> None:
    limits, clock = fresh_limits()
    limits.pause(60)
    limits.pause(5)
    assert limits.pause_s == pytest.approx(60)
    clock.advance(60)
    assert limits.pause_s == 0


def test_a_reported_pace_is_slowed_to_the_configured_bound() -> None:
    limits = RateLimits(FakeClock().clock, per_minute=30)
    limits.learn({"X-RateLimit-Policy": "20;w=1"})
    assert limits.pace == Pace(1, 2)
