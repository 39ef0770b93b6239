"""Outcomes and how a page was retrieved, as values with one text form."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kindly.models import NEXT_STEPS, Document, FetchMethod, How, Outcome, OutcomeKind


@pytest.mark.parametrize(
    "text", ["http", "cache", "revalidated", "browser", "loader:github", "library"]
)
def test_how_survives_the_round_trip_through_its_text(text: str) -> None:
    assert str(How.parse(text)) == text


def test_how_knows_its_loader() -> None:
    assert How.parse("loader:github") == How(FetchMethod.LOADER, "github")


@pytest.mark.parametrize("text", ["", "pigeon", "HTTP"])
def test_an_unknown_method_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"FetchMethod"):
        How.parse(text)


def test_cached_pages_are_those_that_were_not_downloaded_again() -> None:
    cached = {method for method in FetchMethod if How(method).is_cached}
    assert cached == {FetchMethod.CACHE, FetchMethod.REVALIDATED}


@pytest.mark.parametrize("kind", list(OutcomeKind))
def test_every_outcome_has_a_next_step(kind: OutcomeKind) -> None:
    assert Outcome(kind).next_step == NEXT_STEPS[kind]
    assert NEXT_STEPS[kind].endswith(".")


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, OutcomeKind.OK),
        ({"partial": True}, OutcomeKind.PARTIAL),
        ({"partial": True, "cut": True}, OutcomeKind.OK),
        ({"partial": True, "excerpt": True}, OutcomeKind.OK),
    ],
    ids=["whole", "incomplete", "cut at the size limit", "pages that a question needs"],
)
def test_document_is_partial_if_the_site_did_not_send_all(
    more: dict[str, Any], kind: OutcomeKind
) -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert Document("https://a.example/", "Text.", now, **more).outcome.kind is kind


def test_only_passing_troubles_are_retryable() -> None:
    retryable = {kind for kind in OutcomeKind if Outcome(kind).retryable}
    assert retryable == {OutcomeKind.RATE_LIMITED, OutcomeKind.TIMEOUT, OutcomeKind.UNREACHABLE}


def test_notes_of_a_document_are_added() -> None:
    document = Document("https://a.example/", "Text.", datetime(2026, 1, 2, tzinfo=UTC))
    assert document.with_note("One.").with_note("Two.").note == "One. Two."
