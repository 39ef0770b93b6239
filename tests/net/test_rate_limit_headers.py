"""Rate-limit headers in the spellings that servers use."""

from datetime import UTC, datetime

import pytest

from kindly.net.rate_limit_headers import QuotaPolicy, exhausted_s, quota_policies, retry_after_s

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0),
        ("7", 7),
        (" 7 ", 7),
        ("1.5", 1.5),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("9" * 400, None),
        ("soon", None),
        ("１２", None),
        ("", None),
        ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
        ("Sun, 01 Mar 2026 12:00:30 -0000", 30),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Sun, 01 Mar 99999 12:00:00 GMT", None),
    ],
)
def test_retry_after_in_seconds_or_as_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "60"}, 60),
        ({"x-ratelimit-remaining": "1", "x-ratelimit-reset": "60"}, 0),
        ({"x-ratelimit-remaining": "0"}, 0),
        (
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp()) + 90)},
            90,
        ),
        ({"x-ratelimit-remaining": "0, 0", "x-ratelimit-reset": "1, 7200"}, 7200),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, 0),
        ({"ratelimit": '"burst";r=0;t=3'}, 3),
    ],
)
def test_an_exhausted_window_says_when_it_is_reset(headers: dict[str, str], seconds: float) -> None:
    assert exhausted_s(headers, NOW) == seconds


def test_policies_need_a_number_of_calls_and_a_window() -> None:
    headers = {"ratelimit-policy": '"burst";q=100;w=60, 10, ten;w=1', "x-ratelimit-policy": "1;w=1"}
    assert list(quota_policies(headers)) == [QuotaPolicy(1, 1), QuotaPolicy(100, 60)]
