"""The answers of profile `pages`: Google's shape for every provider, cut to the budget."""

import pytest

from kindly.errors import InputError, ProviderFailed
from kindly.models import Hit, Hits, Query
from kindly.server.profiles.pages.answers import queries_result, query_result
from kindly.server.profiles.pages.results import query_json, to_json
from kindly.server.render.formatting import json_size

HIT = Hit("Cats", "https://example.com/cats", "All about cats.", "brave")


def hits(count: int = 1, *, provider: str = "brave", raw: dict[str, object] | None = None) -> Hits:
    return Hits(Query("cats"), (HIT,) * count, provider, raw=raw, took_ms=1500)


def test_the_json_of_google_is_passed_on() -> None:
    raw: dict[str, object] = {"kind": "customsearch#search", "items": [{"title": "Cats"}]}
    assert query_json(query_result(hits(provider="google", raw=raw))) == raw


def test_other_providers_answer_in_the_shape_of_google() -> None:
    answer = query_json(query_result(hits()))
    assert answer["searchInformation"] == {"searchTime": 1.5, "totalResults": "1"}
    assert answer["items"] == [
        {
            "kind": "customsearch#result",
            "title": "Cats",
            "link": "https://example.com/cats",
            "displayLink": "example.com",
            "snippet": "All about cats.",
            "formattedUrl": "https://example.com/cats",
        }
    ]


def test_no_hits_means_no_items() -> None:
    assert "items" not in query_json(query_result(hits(0)))


@pytest.mark.parametrize(("status", "code"), [(500, 500), (None, 503)])
def test_a_failed_query_has_an_error_in_its_place(status: int | None, code: int) -> None:
    error = query_json(
        query_result(ProviderFailed("Google returned a server error.", status=status))
    )["error"]
    assert error["code"] == code
    assert "Google returned a server error." in error["message"]


def test_items_that_do_not_fit_are_left_out_and_reported() -> None:
    answer = to_json(queries_result(["cats", "dogs"], [hits(50), hits(1)], 1_000))
    shown = [len(one["result"]["items"]) for one in answer["queries"]]
    assert 0 < shown[0] < 50
    assert shown[1] == 1
    assert answer["note"] == (
        f"{50 - shown[0]} items were left out, because the answer would exceed 1000 tokens: "
        "ask for fewer results per query."
    )


def test_one_item_that_does_not_fit_is_one_item() -> None:
    whole = queries_result(["cats"], [hits(3)], 10_000)
    answer = queries_result(["cats"], [hits(3)], json_size(to_json(whole)) - 1)
    assert whole.note == ""
    assert answer.note.startswith("1 item was left out")


def test_too_many_queries_for_the_budget_are_an_input_error() -> None:
    with pytest.raises(InputError, match="ask fewer"):
        queries_result(["cats" * 50] * 50, [hits(0)] * 50, 500)
