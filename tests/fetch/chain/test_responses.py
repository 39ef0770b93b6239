from datetime import timedelta

import pytest

from kindly.errors import (
    PageChallenged,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageUnreachable,
)
from kindly.fetch.chain.responses import failure, retry_after_s, to_page
from kindly.fetch.chain.types import HopReply
from kindly.models import OutcomeKind
from kindly.urls import parse
from tests.support.fetch_fakes import START, reply

URL = parse("https://example.com/")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 3 ", 3.0),
        ("0", 0.0),
        ("Thu, 01 Jan 2026 00:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 00:00:30 -0000", 30.0),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("１２", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(value: str, seconds: float | None) -> None:
    assert retry_after_s(reply(429, retry_after=value), START) == seconds


def test_missing_retry_after_is_unknown() -> None:
    assert retry_after_s(reply(429), START) is None


def test_unavailable_with_a_date_is_rate_limited() -> None:
    error = failure(reply(503, retry_after="Thu, 01 Jan 2026 00:01:00 GMT"), START)

    assert isinstance(error, PageRateLimited)
    assert error.retry_after_s == 60.0


def test_unavailable_without_one_is_unreachable() -> None:
    assert isinstance(failure(reply(503), START), PageUnreachable)


CHALLENGE = b"<title>Just a moment...</title><script>window._cf_chl_opt = {}</script>"


@pytest.mark.parametrize("status", [403, 405, 429, 503])
def test_refusal_with_a_bot_check_is_blocked(status: int) -> None:
    error = failure(HopReply(URL, status, (("retry-after", "9"),), CHALLENGE), START)

    assert isinstance(error, PageForbidden)
    assert error.kind is OutcomeKind.BLOCKED
    assert "bot check" in error.detail


def test_bot_check_is_recognised_by_its_header() -> None:
    assert isinstance(failure(reply(403, cf_mitigated="challenge"), START), PageChallenged)


def test_missing_page_is_no_bot_check() -> None:
    assert isinstance(failure(HopReply(URL, 404, (), CHALLENGE), START), PageNotFound)


def test_not_modified_is_no_failure_for_a_known_page() -> None:
    assert failure(reply(304), START, known=True) is None
    assert isinstance(failure(reply(304), START), PageUnreachable)


def test_page_takes_its_fields_from_headers() -> None:
    answer = reply(
        body=b"x",
        content_type='Text/HTML ; Charset="UTF-8"; x=y',
        etag='W/"1"',
        last_modified="Wed, 01 Jan 2025 00:00:00 GMT",
        cache_control="Private, No-Store",
    )

    page = to_page(answer, URL, START + timedelta(hours=1))

    assert (page.media_type, page.charset) == ("text/html", "UTF-8")
    assert (page.etag, page.cache_control) == ('W/"1"', "private, no-store")
    assert page.last_modified == "Wed, 01 Jan 2025 00:00:00 GMT"
    assert page.fetched_at == START + timedelta(hours=1)
