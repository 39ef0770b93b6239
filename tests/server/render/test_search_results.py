"""Search results as an answer: as many results and as much of each page as the budget allows."""

import pytest

from kindly.answer import excerpt
from kindly.budget import count_tokens
from kindly.models import Hits, Query, Source
from kindly.server.render.fence import Fence
from kindly.server.render.formatting import compact
from kindly.server.render.page import page_content
from kindly.server.render.search_results import search_data, search_result, search_text
from tests.support.result_sources import source

FENCE = Fence("c0ffee")
QUERY = Query("tea", 3)


def searched(
    *sources: Source, tokens: int = 20_000, failed: tuple[str, ...] = ()
) -> dict[str, object]:
    hits = Hits(QUERY, tuple(source.hit for source in sources if source.hit), "serper", failed)
    result = search_result(hits, sources, FENCE, tokens)
    text, data = search_text(result), search_data(result)
    assert max(count_tokens(text), count_tokens(compact(data))) <= tokens
    return {"text": text, **data}


def test_result_has_the_four_fields_and_says_what_else_is_known() -> None:
    answer = searched(source("Tea is a drink."))
    assert answer["results"] == [
        {
            "title": "All about tea",
            "link": "https://example.com/tea",
            "snippet": "About tea.",
            "page_content": page_content(
                excerpt(source("Tea is a drink."), start=0, tokens=99), FENCE
            ),
            "status": "ok",
            "domain": "example.com",
            "provider": "serper",
            "published": "2025-12-01",
            "published_from": "serper",
            "score": 0.5,
            "fetched_at": "2026-01-02T03:04:05+00:00",
            "content_hash": "0123456789abcdef",
        }
    ]


def test_text_and_data_say_the_same() -> None:
    answer = searched(source("Tea is a drink."), source(None, url="https://slow.example/"))
    results = answer["results"]
    assert isinstance(results, list)
    for result in results:
        for key in ("title", "link", "snippet", "page_content"):
            assert result[key] in str(answer["text"])


@pytest.mark.parametrize("tokens", [500, 700, 1_000, 3_000, 20_000])
@pytest.mark.parametrize("piece", ["word ", 'say "\\n" ', "日本語。", "\n\n## Head\n\ntext "])
def test_no_answer_exceeds_its_budget(tokens: int, piece: str) -> None:
    sources = tuple(source(piece * 5_000, url=f"https://example.com/{n}") for n in range(5))
    answer = searched(*sources, tokens=tokens)
    spent = max(count_tokens(str(answer.pop("text"))), count_tokens(compact(answer)))
    assert spent <= tokens
    if tokens >= 3_000:
        assert spent >= tokens * 0.7


def test_a_cut_is_stated_with_a_cursor_and_an_outline() -> None:
    text = "word " * 3_000 + "\n\n## Brewing\n\n" + "more " * 10
    answer = searched(source(text), tokens=1_000)
    results = answer["results"]
    assert isinstance(results, list)
    content = results[0]["page_content"]
    assert f'cursor="{results[0]["cursor"]}"' in content
    assert "Further down: Brewing." in content


def test_results_that_do_not_fit_at_all_are_counted() -> None:
    sources = tuple(
        source(None, url=f"https://example.com/{'x' * 300}{n}", snippet="long " * 100)
        for n in range(10)
    )
    answer = searched(*sources, tokens=600)
    results = answer["results"]
    assert isinstance(results, list)
    assert 1 <= len(results) < 10
    assert str(10 - len(results)) in str(answer["note"])


def test_a_single_monstrous_result_is_left_out_and_said() -> None:
    answer = searched(source(None, url=f"https://example.com/{'x' * 3000}"), tokens=500)
    assert answer["results"] == []
    assert "1 more results" in str(answer["note"])


def test_no_results_are_said_plainly_and_without_error() -> None:
    answer = searched()
    assert answer["results"] == []
    assert "No results" in str(answer["text"])


def test_a_fallback_is_mentioned() -> None:
    assert "tavily failed" in str(searched(source("Tea."), failed=("tavily",))["note"])
