"""Tavily: requests, filters, answers."""

import httpx2
import pytest
from pydantic import SecretStr

from kindly.budget import Deadline
from kindly.errors import ProviderAnswerInvalid
from kindly.models import Hit, Query
from kindly.search.providers.tavily import SPEC, Tavily, to_body, to_hits
from tests.support.fakes import FakeApi, built, provider_answer, sent_json

pytestmark = pytest.mark.anyio

PLAIN = {
    "query": "x",
    "max_results": 3,
    "search_depth": "basic",
    "include_answer": False,
    "include_images": False,
    "include_raw_content": False,
}


async def test_request_is_a_post_with_bearer_and_without_extra_payloads() -> None:
    answer = provider_answer("tavily", "empty")
    api = FakeApi({"api.tavily.com": [httpx2.Response(200, json=answer)]})
    async with api.client() as client:
        provider = built(SPEC, client, SecretStr("tvly-1"))
        assert isinstance(provider, Tavily)
        await provider.search(Query("x"), Deadline.after(60))
    (request,) = api.requests
    assert request.method == "POST"
    assert str(request.url) == "https://api.tavily.com/search"
    assert request.headers["Authorization"] == "Bearer tvly-1"
    assert request.headers["Content-Type"] == "application/json"
    assert sent_json(request) == PLAIN


@pytest.mark.parametrize(
    ("query", "added"),
    [
        pytest.param(Query("x", site="peps.python.org"), {"include_domains": ["peps.python.org"]}),
        pytest.param(Query("x", time_range="week"), {"time_range": "week"}),
        pytest.param(Query("x", category="news"), {"topic": "news"}),
        pytest.param(Query("x", category="science"), {}),
        pytest.param(Query("x", language="de", region="DE", safe_search="strict"), {}),
    ],
    ids=["site", "time-range", "news", "other-category", "not-offered"],
)
def test_filters_are_sent_under_the_vendors_names(query: Query, added: dict[str, object]) -> None:
    assert to_body(query) == {**PLAIN, **added}


@pytest.mark.parametrize(("count", "max_results"), [(0, 1), (1, 1), (20, 20), (21, 20)])
def test_count_is_limited_to_what_the_vendor_accepts(count: int, max_results: int) -> None:
    assert to_body(Query("x", count=count))["max_results"] == max_results


def test_results_become_hits_with_score_and_date() -> None:
    assert to_hits(provider_answer("tavily", "search")) == (
        Hit(
            title="PEP 634 – Structural Pattern Matching: Specification",
            url="https://peps.python.org/pep-0634/",
            snippet="This PEP provides the technical specification for the match statement. "
            "It replaces PEP 622.",
            provider="tavily",
            score=0.91276,
        ),
        Hit(
            title="4. More Control Flow Tools",
            url="https://docs.python.org/3/tutorial/controlflow.html",
            snippet="A match statement takes an expression and compares its value to successive "
            "patterns given as one or more case blocks.",
            provider="tavily",
            score=0.80321,
        ),
        Hit(
            title="The match statement, five years on",
            url="https://example.com/news/match-statement",
            snippet="Looking back at how it is used.",
            provider="tavily",
            published="Tue, 03 Mar 2026 09:15:00 GMT",
            score=0.5012,
        ),
    )


@pytest.mark.parametrize(
    "body", [{"query": "x"}, {"results": None}, {"results": {}}, {"results": [{"title": "x"}]}]
)
def test_answers_in_another_format_are_refused(body: dict[str, object]) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        to_hits(body)


def test_domains_and_dates_have_their_own_fields() -> None:
    query = Query(
        "bees",
        site="a.org",
        include_domains=("b.org",),
        exclude_domains=("c.org",),
        published_after="2024-02-20",
        published_before="2024-03-10",
    )
    body = to_body(query)
    assert body["include_domains"] == ["a.org", "b.org"]
    assert body["exclude_domains"] == ["c.org"]
    assert (body["start_date"], body["end_date"]) == ("2024-02-20", "2024-03-10")
