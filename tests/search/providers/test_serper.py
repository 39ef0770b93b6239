"""Serper: requests, filters, answers."""

import httpx2
import pytest
from pydantic import SecretStr

from kindly.budget import Deadline
from kindly.errors import ProviderAnswerInvalid
from kindly.models import Category, Hit, Query
from kindly.search.providers.serper import NEWS, SPEC, VERTICALS, Serper, to_body, to_hits
from tests.support.fakes import FakeApi, built, provider_answer, sent_json

pytestmark = pytest.mark.anyio


async def sent_for(query: Query) -> httpx2.Request:
    answer = provider_answer("serper", "empty")
    api = FakeApi({"google.serper.dev": [httpx2.Response(200, json=answer)]})
    async with api.client() as client:
        provider = built(SPEC, client, SecretStr("key-1"))
        assert isinstance(provider, Serper)
        await provider.search(query, Deadline.after(60))
    (request,) = api.requests
    return request


async def test_request_is_a_post_of_q_and_num_with_the_key_header() -> None:
    request = await sent_for(Query("rust borrow checker", count=3))
    assert request.method == "POST"
    assert str(request.url) == "https://google.serper.dev/search"
    assert request.headers["X-API-KEY"] == "key-1"
    assert request.headers["Content-Type"] == "application/json"
    assert "Authorization" not in request.headers
    assert sent_json(request) == {"q": "rust borrow checker", "num": 3}


@pytest.mark.parametrize(
    ("category", "path"),
    [
        ("news", "/news"),
        ("images", "/images"),
        ("videos", "/videos"),
        ("science", "/scholar"),
        ("it", "/search"),
    ],
)
async def test_each_category_has_its_own_path(category: Category, path: str) -> None:
    request = await sent_for(Query("python release", category=category))
    assert str(request.url) == f"https://google.serper.dev{path}"


def test_an_images_address_is_that_of_its_page() -> None:
    image = {
        "title": "Dune",
        "imageUrl": "https://i/1.jpg",
        "link": "https://x.org/p",
        "source": "X",
    }
    (hit,) = to_hits({"images": [image]}, VERTICALS["images"])
    assert (hit.title, hit.url, hit.snippet) == ("Dune", "https://x.org/p", "X")


@pytest.mark.parametrize(
    ("query", "body"),
    [
        pytest.param(
            Query("x", site="docs.python.org"), {"q": "x site:docs.python.org"}, id="site"
        ),
        pytest.param(Query("x", time_range="day"), {"q": "x", "tbs": "qdr:d"}, id="day"),
        pytest.param(Query("x", time_range="week"), {"q": "x", "tbs": "qdr:w"}, id="week"),
        pytest.param(Query("x", time_range="month"), {"q": "x", "tbs": "qdr:m"}, id="month"),
        pytest.param(Query("x", time_range="year"), {"q": "x", "tbs": "qdr:y"}, id="year"),
        pytest.param(Query("x", language="pt-br"), {"q": "x", "hl": "pt-br"}, id="language"),
        pytest.param(Query("x", region="DE"), {"q": "x", "gl": "de"}, id="region"),
        pytest.param(Query("x", page=2), {"q": "x", "page": 2}, id="page"),
        pytest.param(Query("x", safe_search="strict"), {"q": "x"}, id="safe-search"),
        pytest.param(Query("x", category="images"), {"q": "x"}, id="category"),
    ],
)
def test_filters_are_sent_under_the_vendors_names(query: Query, body: dict[str, object]) -> None:
    assert to_body(query) == {"num": 3, **body}


@pytest.mark.parametrize(("count", "num"), [(0, 1), (1, 1), (100, 100), (101, 100)])
def test_count_is_limited_to_what_the_vendor_accepts(count: int, num: int) -> None:
    assert to_body(Query("x", count=count))["num"] == num


def test_organic_results_become_hits() -> None:
    assert to_hits(provider_answer("serper", "search")) == (
        Hit(
            title="PEP 636 – Structural Pattern Matching: Tutorial",
            url="https://peps.python.org/pep-0636/",
            snippet="This PEP is a tutorial for the pattern matching introduced by PEP 634. "
            "PEP 622 proposed syntax for pattern matching.",
            provider="serper",
            published="Sep 12, 2020",
        ),
        Hit(
            title="What's New In Python 3.10",
            url="https://docs.python.org/3/whatsnew/3.10.html",
            snippet="Structural pattern matching has been added in the form of a match statement "
            "and case statements of patterns with associated actions.",
            provider="serper",
        ),
        Hit(
            title="Structural pattern matching – “match” in practice",
            url="https://example.org/blog/match?utm_source=feed",
            snippet="",
            provider="serper",
            published="3 days ago",
        ),
    )


def test_news_results_become_hits() -> None:
    hits = to_hits(provider_answer("serper", "news"), NEWS)
    assert [(hit.url, hit.published) for hit in hits] == [
        ("https://example.com/news/python", "2 hours ago"),
        ("https://example.net/python-release", "1 day ago"),
    ]


def test_an_answer_that_echoes_the_search_without_a_list_is_an_empty_result() -> None:
    assert to_hits({"searchParameters": {"q": "x"}, "credits": 1}) == ()


@pytest.mark.parametrize(
    "body",
    [
        {"message": "ok"},
        {"searchParameters": "x"},
        {"searchParameters": {"q": "x"}, "organic": None},
        {"searchParameters": {"q": "x"}, "organic": {"0": {}}},
        {"organic": [{"title": "no link"}]},
    ],
)
def test_answers_in_another_format_are_refused(body: dict[str, object]) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        to_hits(body)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Query("x", published_after="2024-03-01"), "x after:2024-02-29"),
        (Query("x", published_before="2024-12-31"), "x before:2025-01-01"),
        (
            Query("x", category="news", site="a.org", published_after="2024-03-01"),
            "x site:a.org after:2024-02-29",
        ),
        (Query("x", category="science", published_after="2024-03-01"), "x"),
    ],
)
def test_days_are_operators_where_google_has_them(query: Query, text: str) -> None:
    assert to_body(query)["q"] == text
    assert ("published_after" in SPEC.filters(query)) is (query.category != "science")
