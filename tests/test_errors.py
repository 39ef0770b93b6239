"""Errors carry fields, report an outcome, and are copied instead of edited."""

import pytest

from kindly.errors import (
    CallTimeout,
    FetchError,
    KindlyError,
    PageChallenged,
    PageForbidden,
    PageTooLarge,
    PageWalled,
    PoolExhausted,
    ProviderTimeout,
    StoreUnavailable,
)
from kindly.models import Outcome, OutcomeKind

URL = "https://a.example/"


def test_replace_returns_a_copy_and_leaves_the_error_as_it_is() -> None:
    error = PageTooLarge("Too large.", url=URL, limit_bytes=7)
    copy = error.replace(url="https://b.example/", detail="Far too large.")
    assert type(copy) is PageTooLarge
    assert (copy.url, copy.limit_bytes, str(copy)) == ("https://b.example/", 7, "Far too large.")
    assert (error.url, error.detail) == (URL, "Too large.")


def test_a_copy_keeps_the_traceback() -> None:
    with pytest.raises(FetchError) as caught:
        raise PageForbidden("No.", url=URL, status=403)
    assert caught.value.replace(url="x").__traceback__ is caught.value.__traceback__


def test_an_unknown_field_cannot_be_replaced() -> None:
    with pytest.raises(TypeError):
        KindlyError("No.").replace(provider="serper")


def test_text_and_arguments_are_the_detail() -> None:
    error = PoolExhausted("No instance answered.", attempted=("a", "b"))
    assert (str(error), error.args) == ("No instance answered.", ("No instance answered.",))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CallTimeout("Late.", limit_s=55.0), OutcomeKind.TIMEOUT),
        (ProviderTimeout("Late.", provider="serper"), OutcomeKind.TIMEOUT),
        (PageForbidden("No.", url=URL, status=401), OutcomeKind.AUTH),
        (PageForbidden("No.", url=URL, status=403), OutcomeKind.BLOCKED),
        (PageChallenged("No.", url=URL, status=401), OutcomeKind.BLOCKED),
        (PageWalled("No.", url=URL, wall=OutcomeKind.PAYWALLED), OutcomeKind.PAYWALLED),
    ],
)
def test_an_error_reports_its_outcome(error: KindlyError, kind: OutcomeKind) -> None:
    assert error.outcome == Outcome(kind, error.detail, None)


def test_the_outcome_has_the_time_to_wait() -> None:
    assert KindlyError("Wait.", retry_after_s=3.0).outcome.retry_after_s == 3.0


def test_the_reason_of_a_store_is_its_detail_unless_given() -> None:
    assert StoreUnavailable("Locked.").reason == "Locked."
    assert StoreUnavailable("The library x is locked.", reason="locked").reason == "locked"
