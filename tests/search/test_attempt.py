"""How a search reports failed and skipped providers."""

import pytest

from kindly.budget import Deadline
from kindly.errors import (
    CertificateRefused,
    PoolExhausted,
    ProviderAnswerInvalid,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.models import Query
from kindly.search.attempt import SearchAttempt, cause_of
from tests.support.fakes import FakeClock


def attempt() -> SearchAttempt:
    return SearchAttempt(Query("tea"), Deadline.after(10, FakeClock()))


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ProviderFailed("x", status=500), "HTTP 500"),
        (ProviderRateLimited("x", status=429), "HTTP 429"),
        (ProviderRateLimited("x"), "rate limit"),
        (ProviderTimeout("x"), "timeout"),
        (ProviderBlocked("x"), "blocked"),
        (ProviderAnswerInvalid("x"), "unusable answer"),
        (PoolExhausted("x"), "no instance available"),
        (CertificateRefused("x"), "certificate refused"),
        (ProviderUnreachable("x"), "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_cause_is_what_really_happened(error: SearchError, cause: str) -> None:
    assert cause_of(error) == cause


def test_the_first_error_is_copied_with_a_note_and_not_changed() -> None:
    search = attempt()
    first = ProviderFailed("It failed.", provider="serper", status=500)
    search.failures += [first, ProviderTimeout("Late.", provider="tavily")]
    search.skipped["brave"] = 3

    error = search.error()

    assert isinstance(error, ProviderFailed)
    assert (error.provider, error.status) == ("serper", 500)
    assert error.detail == (
        "It failed. The fallback failed too: tavily (timeout). "
        "Not called: brave is paused after 3 failures."
    )
    assert first.detail == "It failed."


def test_a_single_failure_is_the_error_itself() -> None:
    search = attempt()
    search.failures.append(ProviderTimeout("Late.", provider="serper"))
    assert search.error() is search.failures[0]


def test_the_reason_lists_failures_and_skipped_providers() -> None:
    search = attempt()
    assert search.why("first configured") == "first configured"
    search.failures.append(ProviderFailed("x", provider="serper", status=502))
    search.skipped["brave"] = 3
    assert search.why("") == "serper failed (HTTP 502); brave is paused after 3 failures"


@pytest.mark.parametrize(("left", "allowed_s"), [(1, 10), (2, 6), (3, 4), (5, 4)])
def test_a_provider_gets_a_share_of_the_time_left(left: int, allowed_s: float) -> None:
    assert attempt().share(left).remaining_s() == pytest.approx(allowed_s)
