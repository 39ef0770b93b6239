"""Findings of several pages: the best page first, the budget for what answers."""

from datetime import UTC, datetime

import pytest

from kindly.budget import count_tokens
from kindly.models import (
    Citation,
    Finding,
    How,
    Outcome,
    OutcomeKind,
    PageFindings,
    Passage,
    StoredPageInfo,
)
from kindly.server.render.fence import NO_FENCE, Fence
from kindly.server.render.findings import findings_data, page_findings
from kindly.server.render.findings_batch import Part, batch_data, batch_text, findings_batch
from kindly.server.render.formatting import compact

GONE = Outcome(OutcomeKind.NOT_FOUND, "There is no such page.")


def found(name: str, *scores: float, text: str = "Bees dance.") -> PageFindings:
    """A page with one passage for each question; below 0.5 it does not answer."""
    page = StoredPageInfo(
        f"https://example.com/{name}", name, datetime(2026, 1, 2, tzinfo=UTC), "0123456789ab", 500
    )
    findings = tuple(
        Finding(
            f"Question {n}?",
            (Citation(page, Passage(text, 0, len(text), 500, score=score)),),
            answered=score >= 0.5,
        )
        for n, score in enumerate(scores, start=1)
    )
    return PageFindings(page, findings, How())


def part(name: str, *scores: float, text: str = "Bees dance.") -> Part:
    return f"https://example.com/{name}", found(name, *scores, text=text)


def test_which_page_answers_best_is_said_first() -> None:
    parts = [part("a", 0.6, 0.1), part("b", 0.9, 0.3), ("https://example.com/c", GONE)]
    result = findings_batch(parts, NO_FENCE, 5_000)
    assert next(iter(batch_data(result))) == "best"
    assert batch_data(result)["best"] == [
        {
            "question": "Question 1?",
            "answered": True,
            "url": "https://example.com/b",
            "score": 0.9,
        },
        {
            "question": "Question 2?",
            "answered": False,
            "url": "https://example.com/b",
            "score": 0.3,
        },
    ]
    first, second, *_ = batch_text(result).splitlines()
    assert first == "Question 1?: Best answer: b (https://example.com/b, score 0.90)"
    assert second.startswith("Question 2?: No page seems to answer; closest: b (")


def test_an_answer_wins_over_a_closer_passage_that_does_not_answer() -> None:
    close = found("a", 0.9)
    close = PageFindings(
        close.page, (Finding("Question 1?", close.findings[0].citations, answered=False),), How()
    )
    result = findings_batch([("https://example.com/a", close), part("b", 0.6)], NO_FENCE, 5_000)
    assert result.best[0].url == "https://example.com/b"


def test_pages_come_in_their_order_and_one_that_failed_with_its_outcome() -> None:
    parts = [part("a", 0.6), ("https://example.com/c", GONE), part("b", 0.9)]
    data = batch_data(findings_batch(parts, NO_FENCE, 5_000))
    assert [page["url"] for page in data["pages"]] == [url for url, _ in parts]
    failed = data["pages"][1]
    assert (failed["status"], failed["retryable"], failed["findings"]) == ("not_found", False, [])
    assert "There is no such page." in failed["note"]


def test_an_answering_page_is_shown_as_in_a_single_call() -> None:
    url, page = part("a", 0.9)
    assert isinstance(page, PageFindings)
    data = batch_data(findings_batch([(url, page), part("b", 0.8)], NO_FENCE, 5_000))
    assert data["pages"][0] == findings_data(page_findings(url, page, NO_FENCE, 5_000))


def test_passages_that_do_not_answer_are_left_out_if_another_page_answers() -> None:
    parts = [part("a", 0.2), part("b", 0.9)]
    first, second = batch_data(findings_batch(parts, NO_FENCE, 5_000))["pages"]
    assert first["findings"][0]["passages"] == []
    assert not first["findings"][0]["answered"]
    assert len(second["findings"][0]["passages"]) == 1


def test_if_no_page_answers_the_closest_passages_of_each_are_shown() -> None:
    data = batch_data(findings_batch([part("a", 0.2), part("b", 0.3)], NO_FENCE, 5_000))
    assert [len(page["findings"][0]["passages"]) for page in data["pages"]] == [1, 1]


def test_without_a_page_there_is_no_best_one() -> None:
    result = findings_batch([("https://example.com/c", GONE)], NO_FENCE, 5_000)
    assert batch_data(result)["best"] == []


@pytest.mark.parametrize("tokens", [500, 1_000, 5_000])
@pytest.mark.parametrize("count", [2, 20])
def test_no_answer_exceeds_its_budget_and_the_best_page_stays(tokens: int, count: int) -> None:
    scores = [0.5 + n / 100 for n in range(count)]
    parts = [
        part(f"p{n}", score, text="Bees dance in the hive. " * 20) for n, score in enumerate(scores)
    ]
    result = findings_batch(parts, Fence("c0ffee"), tokens)
    sizes = (count_tokens(batch_text(result)), count_tokens(compact(batch_data(result))))
    assert max(sizes) <= tokens
    assert batch_data(result)["pages"][-1]["url"] == parts[-1][0]
