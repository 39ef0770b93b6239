"""One page as an answer: fenced text, stated cuts, a note instead of nothing."""

from dataclasses import replace

import pytest

from kindly.answer import excerpt
from kindly.budget import count_tokens
from kindly.models import Outcome, OutcomeKind, Source
from kindly.server.render.fence import NO_FENCE, Fence
from kindly.server.render.formatting import compact
from kindly.server.render.page import (
    excerpt_result,
    note,
    page_content,
    page_data,
    page_result,
    page_text,
    unread_page,
)
from tests.support.result_sources import URL, document, source

FENCE = Fence("c0ffee")


def test_data_carries_what_the_page_says_of_itself() -> None:
    page = Source("https://example.com/t", Outcome(), document=document("Tea."))
    result = excerpt_result(page.url, excerpt(page, start=0, tokens=10), NO_FENCE)
    assert page_data(result) == {
        "url": "https://example.com/t",
        "page_content": "Tea.",
        "status": "ok",
        "title": "Tea",
        "final_url": "https://example.com/tea",
        "language": "en",
        "how": "http",
        "fetched_at": "2026-01-02T03:04:05+00:00",
        "content_hash": "0123456789abcdef",
    }


def test_text_has_the_title_the_facts_and_the_content() -> None:
    result = page_result(URL, document("Tea."), 0, NO_FENCE, 1_000)
    facts = "http · fetched 2026-01-02T03:04:05+00:00 · sha256 0123456789ab"
    assert page_text(result) == f"# Tea\n{facts}\n\nTea."


@pytest.mark.parametrize("tokens", [500, 1_000, 5_000])
def test_a_page_is_cut_to_its_budget(tokens: int) -> None:
    result = page_result(URL, document('say "tea" ' * 5_000), 0, FENCE, tokens)
    spent = max(count_tokens(page_text(result)), count_tokens(compact(page_data(result))))
    assert tokens * 0.7 <= spent <= tokens
    assert f'cursor="{result.cursor}"' in result.page_content


def test_a_page_without_room_says_how_to_go_on() -> None:
    content = page_content(excerpt(source("Tea."), start=0, tokens=0), FENCE)
    assert 'cursor="0123456789ab-0"' in content


def test_a_page_that_was_not_read_has_a_note_with_reason_and_next_step() -> None:
    outcome = Outcome(OutcomeKind.TIMEOUT, "No answer within 30 seconds.")
    assert note(outcome) == (
        f"_Page not read (timeout): No answer within 30 seconds. {outcome.next_step}_"
    )
    assert page_data(unread_page(URL, outcome)) == {
        "url": URL,
        "page_content": note(outcome),
        "status": "timeout",
        "retryable": True,
    }


def test_the_waiting_time_is_in_its_own_field_and_not_in_the_note() -> None:
    outcome = Outcome(OutcomeKind.RATE_LIMITED, "The site limits requests.", retry_after_s=90.0)
    assert note(outcome) == note(replace(outcome, retry_after_s=12.0))
    assert "90" not in note(outcome)
    assert page_data(unread_page(URL, outcome))["retry_after_s"] == 90
