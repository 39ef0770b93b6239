"""Findings as an answer: passages with score and link, and a clear statement when nothing answers."""

from datetime import UTC, datetime

import pytest

from kindly.models import Citation, Finding, How, PageFindings, Passage, StoredPageInfo
from kindly.server.render.fence import NO_FENCE, Fence
from kindly.server.render.findings import (
    NOT_IN_LIBRARY,
    NOT_ON_PAGE,
    findings_data,
    findings_text,
    library_findings,
    page_findings,
)
from kindly.server.render.formatting import larger_size

URL = "https://example.com/bees"
PAGE = StoredPageInfo(URL, "Bees", datetime(2026, 1, 2, tzinfo=UTC), "0123456789abcdef", 500)


def citation(text: str = "Bees dance.", score: float = 0.9) -> Citation:
    return Citation(PAGE, Passage(text, 0, len(text), 500, section=("Life",), score=score))


def on_page(*findings: Finding, note: str = "") -> PageFindings:
    return PageFindings(PAGE, findings, How(), note)


def test_a_page_answers_with_its_passages() -> None:
    found = on_page(Finding("How do bees talk?", (citation(),)))
    result = page_findings(URL, found, NO_FENCE, 1_000)
    assert findings_data(result) == {
        "url": URL,
        "title": "Bees",
        "how": "http",
        "fetched_at": "2026-01-02T00:00:00+00:00",
        "content_hash": "0123456789abcdef",
        "findings": [
            {
                "question": "How do bees talk?",
                "answered": True,
                "passages": [
                    {
                        "text": "Bees dance.",
                        "score": 0.9,
                        "section": ["Life"],
                        "start": 0,
                        "end": 11,
                        "link": f"{URL}#:~:text=Bees%20dance.",
                    }
                ],
            }
        ],
    }
    assert findings_text(result) == (
        f"# Bees\n{URL} · http · fetched 2026-01-02T00:00:00+00:00 · sha256 0123456789ab\n\n"
        f"## How do bees talk?\n\n1. score 0.90 · Life\n{URL}#:~:text=Bees%20dance.\nBees dance."
    )


def test_link_to_a_passage_of_a_file_with_pages_opens_its_page() -> None:
    passage = Passage("Bees dance.", 0, 11, 500, section=("Life", "p. 12"), score=0.9)
    found = on_page(Finding("How do bees talk?", (Citation(PAGE, passage),)))
    result = page_findings(URL, found, NO_FENCE, 1_000)
    assert result.findings[0].passages[0].link == f"{URL}#page=12"
    assert "Life > p. 12" in findings_text(result)


def test_passages_of_the_library_name_their_page() -> None:
    result = library_findings([Finding("How?", (citation(),))], NO_FENCE, 1_000)
    (passage,) = findings_data(result)["findings"][0]["passages"]
    assert (passage["url"], passage["title"]) == (URL, "Bees")
    assert "1. score 0.90 · Bees · Life · fetched 2026-01-02" in findings_text(result)


@pytest.mark.parametrize("tokens", [500, 1_000])
def test_passages_that_do_not_fit_are_counted(tokens: int) -> None:
    finding = Finding("How?", tuple(citation("word " * 200, 0.5) for _ in range(9)))
    result = library_findings([finding], Fence("c0ffee"), tokens)
    shown = len(result.findings[0].passages)
    assert 0 < shown < 9
    assert f"{9 - shown} more passages did not fit max_tokens." in result.findings[0].note
    assert larger_size(findings_text(result), findings_data(result)) <= tokens


def test_an_unanswered_question_is_reported() -> None:
    unanswered = Finding("What is the capital of France?", (), answered=False)
    on_a_page = page_findings(URL, on_page(unanswered), NO_FENCE, 1_000)
    in_library = library_findings([unanswered], NO_FENCE, 1_000)
    assert on_a_page.findings[0].note == NOT_ON_PAGE
    assert in_library.findings[0].note == NOT_IN_LIBRARY
    assert findings_data(in_library)["findings"][0]["answered"] is False


def test_closest_passages_follow_the_statement_that_nothing_answers() -> None:
    unanswered = Finding("How?", (citation(score=0.4),), answered=False, note="No vectors.")
    result = page_findings(URL, on_page(unanswered), NO_FENCE, 1_000)
    note = f"No vectors. {NOT_ON_PAGE} Closest passages:"
    (data,) = findings_data(result)["findings"]
    assert (data["answered"], data["note"], len(data["passages"])) == (False, note, 1)
    assert f"## How?\n\n{note}\n\n1. score 0.40" in findings_text(result)


def test_notes_are_in_both_forms() -> None:
    found = on_page(Finding("How?", (citation(),), note="No vectors."), note="The page is partial.")
    result = page_findings(URL, found, NO_FENCE, 1_000)
    text, data = findings_text(result), findings_data(result)
    assert text.count("No vectors.") == text.count("The page is partial.") == 1
    assert (data["note"], data["findings"][0]["note"]) == ("The page is partial.", "No vectors.")
