"""Brave: requests, filters, answers."""

import httpx2
import pytest
from pydantic import SecretStr

from kindly.budget import Deadline
from kindly.errors import ProviderAnswerInvalid, ProviderAuth, ProviderRejected, SearchError
from kindly.models import Hit, ProviderResults, Query
from kindly.search.providers.brave import (
    SPEC,
    VERTICALS,
    WEB,
    Brave,
    to_hits,
    to_pages,
    to_params,
)
from tests.support.fakes import FakeApi, built, provider_answer

pytestmark = pytest.mark.anyio

PLAIN = {"q": "x", "count": "3", "result_filter": "web", "text_decorations": "false"}


async def exchange(query: Query, reply: httpx2.Response) -> tuple[ProviderResults, httpx2.Request]:
    api = FakeApi({"api.search.brave.com": [reply]})
    async with api.client() as client:
        provider = built(SPEC, client, SecretStr("key-1"))
        assert isinstance(provider, Brave)
        found = await provider.search(query, Deadline.after(60))
    (request,) = api.requests
    return found, request


async def test_request_is_a_get_with_the_token_header() -> None:
    reply = httpx2.Response(200, json=provider_answer("brave", "empty"))
    _, request = await exchange(Query("x"), reply)
    assert (request.method, request.url.path) == ("GET", "/res/v1/web/search")
    assert request.url.host == "api.search.brave.com"
    assert request.headers["X-Subscription-Token"] == "key-1"
    assert request.headers["Accept"] == "application/json"
    assert dict(request.url.params) == PLAIN


@pytest.mark.parametrize(
    ("query", "added"),
    [
        pytest.param(Query("x", site="a.example"), {"q": "x site:a.example"}, id="site"),
        pytest.param(Query("x", time_range="day"), {"freshness": "pd"}, id="day"),
        pytest.param(Query("x", time_range="week"), {"freshness": "pw"}, id="week"),
        pytest.param(Query("x", time_range="month"), {"freshness": "pm"}, id="month"),
        pytest.param(Query("x", time_range="year"), {"freshness": "py"}, id="year"),
        pytest.param(Query("x", language="de"), {"search_lang": "de"}, id="language"),
        pytest.param(Query("x", language="de-AT"), {"search_lang": "de"}, id="with-region"),
        pytest.param(Query("x", language="en-GB"), {"search_lang": "en-gb"}, id="british"),
        pytest.param(Query("x", language="ja"), {"search_lang": "jp"}, id="japanese"),
        pytest.param(Query("x", language="zh_TW"), {"search_lang": "zh-hant"}, id="traditional"),
        pytest.param(Query("x", language="zh"), {"search_lang": "zh-hans"}, id="simplified"),
        pytest.param(Query("x", language="tlh"), {}, id="unknown-language"),
        pytest.param(Query("x", region="de"), {"country": "DE"}, id="region"),
        pytest.param(Query("x", region="uk"), {"country": "GB"}, id="uk"),
        pytest.param(Query("x", region="VA"), {}, id="unlisted-region"),
        pytest.param(Query("x", safe_search="moderate"), {"safesearch": "moderate"}, id="safe"),
        pytest.param(Query("x", page=2), {"offset": "1"}, id="page"),
        pytest.param(Query("x", page=30), {"offset": "9"}, id="last-page"),
        pytest.param(Query("x", category="science"), {}, id="other-category"),
    ],
)
def test_filters_are_sent_under_the_vendors_names(query: Query, added: dict[str, str]) -> None:
    assert to_params(query) == PLAIN | added


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        (Query("x", count=20), [(20, 1)]),
        (Query("x", count=21), [(20, 1), (20, 2)]),
        (Query("x", count=50), [(20, 1), (20, 2), (20, 3)]),
        (Query("x", count=900), [(20, page) for page in range(1, 11)]),
        (Query("x", count=50, page=2), [(50, 2)]),
        (Query("x", count=50, category="news"), [(50, 1)]),
    ],
)
def test_more_results_than_a_page_has_are_several_pages(
    query: Query, pages: list[tuple[int, int]]
) -> None:
    assert [(page.count, page.page) for page in to_pages(query)] == pages


@pytest.mark.parametrize(
    ("query", "params"),
    [
        (Query("x", count=99), {"q": "x", "count": "50"}),
        (
            Query("x", time_range="day", page=2),
            {"q": "x", "count": "3", "freshness": "pd", "offset": "1"},
        ),
    ],
)
def test_news_accept_the_same_filters_and_more_results(
    query: Query, params: dict[str, str]
) -> None:
    assert to_params(query, VERTICALS["news"]) == params


def test_images_have_neither_pages_nor_dates_nor_moderate_filtering() -> None:
    query = Query("x", count=500, time_range="day", page=2, safe_search="moderate")
    params = {"q": "x", "count": "200", "safesearch": "strict"}
    assert to_params(query, VERTICALS["images"]) == params


@pytest.mark.parametrize(("count", "sent"), [(0, "1"), (1, "1"), (20, "20"), (21, "20")])
def test_count_is_limited_to_what_the_vendor_accepts(count: int, sent: str) -> None:
    assert to_params(Query("x", count=count))["count"] == sent


@pytest.mark.parametrize("category", ["news", "images", "videos"])
async def test_each_category_has_its_own_path(category: str) -> None:
    reply = httpx2.Response(200, json={"type": category, "query": {}, "results": []})
    found, request = await exchange(Query("x", category=category), reply)  # type: ignore[arg-type]  # a literal
    assert request.url.path == f"/res/v1/{category}/search"
    assert found.hits == ()


def test_web_results_become_hits_in_plain_text_with_a_date() -> None:
    assert to_hits(provider_answer("brave", "search")) == (
        Hit(
            title="PEP 636 – Structural Pattern Matching: Tutorial | peps.python.org",
            url="https://peps.python.org/pep-0636/",
            snippet="This PEP is a tutorial for the pattern matching introduced by PEP 634 "
            "& explained there.",
            provider="brave",
            published="2020-09-12T00:00:00",
        ),
        Hit(
            title='match "statement" in practice',
            url="https://example.org/match",
            snippet="Where a < b holds, use a guard.",
            provider="brave",
            published="3 days ago",
        ),
        Hit("No description", "https://example.net/", "", "brave"),
    )


def test_news_and_images_become_hits() -> None:
    (news,) = to_hits(provider_answer("brave", "news"), VERTICALS["news"])
    assert (news.snippet, news.published) == ("A new Python.", "2026-03-01T10:00:00")
    (image,) = to_hits(provider_answer("brave", "images"), VERTICALS["images"])
    assert image.url == "https://example.com/owl"


@pytest.mark.parametrize(
    ("name", "status", "leaf"),
    [
        ("error_422", 422, ProviderAuth),
        ("error_404", 404, ProviderAuth),
        ("validation", 422, ProviderRejected),
    ],
)
async def test_a_wrong_key_is_distinguished_from_a_wrong_request(
    name: str, status: int, leaf: type[SearchError]
) -> None:
    reply = httpx2.Response(status, json=provider_answer("brave", name))
    with pytest.raises(SearchError) as caught:
        await exchange(Query("x"), reply)
    assert type(caught.value) is leaf
    assert caught.value.status == status
    assert not caught.value.try_next


@pytest.mark.parametrize(
    "body",
    [
        {"type": "search"},
        {"query": {}, "web": []},
        {"query": {}, "web": {"results": None}},
        {"query": {}, "web": {"results": ["text"]}},
        {"query": {}, "web": {"results": [{"title": "no address"}]}},
    ],
)
def test_answers_in_another_format_are_refused(body: dict[str, object]) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        to_hits(body, WEB)


@pytest.mark.parametrize(
    ("query", "freshness"),
    [
        (
            Query("x", published_after="2024-02-20", published_before="2024-03-10"),
            "2024-02-20to2024-03-10",
        ),
        (Query("x", published_before="2024-03-10"), "1990-01-01to2024-03-10"),
        (
            Query(
                "x", time_range="day", published_after="2024-02-20", published_before="2024-03-10"
            ),
            "2024-02-20to2024-03-10",
        ),
    ],
)
def test_days_are_sent_as_freshness(query: Query, freshness: str) -> None:
    assert to_params(query)["freshness"] == freshness


def test_an_open_end_is_a_day_that_has_come() -> None:
    first, _, last = to_params(Query("x", published_after="2024-02-20"))["freshness"].partition(
        "to"
    )
    assert first == "2024-02-20" < last


def test_domains_are_operators() -> None:
    query = Query("x", include_domains=("a.org", "b.org"), exclude_domains=("c.org",))
    assert to_params(query)["q"] == "x site:a.org OR site:b.org NOT site:c.org"


def test_dates_of_images_are_not_sent() -> None:
    query = Query("x", category="images", published_after="2024-02-20")
    assert "published_after" not in SPEC.filters(query)
    assert "freshness" not in to_params(query, VERTICALS["images"])
