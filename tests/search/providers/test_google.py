"""Google's Custom Search JSON API."""

from collections.abc import Callable

import anyio
import httpx2
import pytest
from pydantic import SecretStr

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderRateLimited,
    ProviderRejected,
    SearchError,
)
from kindly.models import Hit, ProviderResults, Query
from kindly.search.providers.google import (
    SPEC,
    Google,
    ResultWindow,
    to_found,
    to_params,
    to_windows,
)
from kindly.search.vendor_api import VendorApi
from tests.support.fakes import FakeApi, FakeSecret, Reply, provider_answer

pytestmark = pytest.mark.anyio

HOST = "www.googleapis.com"
FIRST = ResultWindow(1, 3)


async def search(
    query: Query, *replies: Reply, engine_id: str = "cx-1"
) -> tuple[ProviderResults, FakeApi]:
    api = FakeApi({HOST: list(replies)})
    async with api.client() as client:
        key = SecretStr("key-1")
        google = Google(VendorApi(client, SPEC), SPEC.base_url, key, FakeSecret(engine_id))
        with anyio.fail_after(120):
            found = await google.search(query, Deadline.after(60))
    return found, api


def page_of(total: int) -> Callable[[httpx2.Request], httpx2.Response]:
    """A search with `total` results that are named by their place."""

    def reply(request: httpx2.Request) -> httpx2.Response:
        start = int(request.url.params.get("start", "1"))
        last = min(total, start + int(request.url.params["num"]) - 1)
        queries: dict[str, object] = {"request": [{"startIndex": start}]}
        if last < total:
            queries["nextPage"] = [{"startIndex": last + 1}]
        items = [{"title": "t", "link": f"https://a.example/{n}"} for n in range(start, last + 1)]
        said = {"totalResults": str(total)}
        body = {"queries": queries, "searchInformation": said, "items": items}
        return httpx2.Response(200, json=body)

    return reply


async def test_request_is_a_get_with_the_key_in_a_header() -> None:
    _, api = await search(Query("x"), httpx2.Response(200, json=provider_answer("google", "empty")))
    (request,) = api.requests
    assert (request.method, request.url.path) == ("GET", "/customsearch/v1")
    assert request.headers["X-Goog-Api-Key"] == "key-1"
    assert dict(request.url.params) == {"cx": "cx-1", "q": "x", "num": "3"}


@pytest.mark.parametrize(
    ("query", "added"),
    [
        pytest.param(
            Query("x", site="a.example"),
            {"siteSearch": "a.example", "siteSearchFilter": "i"},
            id="site",
        ),
        pytest.param(Query("x", time_range="day"), {"dateRestrict": "d1"}, id="day"),
        pytest.param(Query("x", time_range="week"), {"dateRestrict": "w1"}, id="week"),
        pytest.param(Query("x", time_range="month"), {"dateRestrict": "m1"}, id="month"),
        pytest.param(Query("x", time_range="year"), {"dateRestrict": "y1"}, id="year"),
        pytest.param(Query("x", language="pt-BR"), {"hl": "pt-BR", "lr": "lang_pt"}, id="language"),
        pytest.param(
            Query("x", language="lang_de"), {"hl": "lang_de", "lr": "lang_de"}, id="lr as it is"
        ),
        pytest.param(Query("x", region="South Tyrol"), {"gl": "South Tyrol"}, id="region by name"),
        pytest.param(Query("x", language="zh_TW"), {"hl": "zh_TW", "lr": "lang_zh-TW"}, id="zh"),
        pytest.param(Query("x", region="DE"), {"gl": "de"}, id="region"),
        pytest.param(Query("x", safe_search="off"), {"safe": "off"}, id="safe-off"),
        pytest.param(Query("x", safe_search="moderate"), {"safe": "active"}, id="safe-moderate"),
        pytest.param(Query("x", safe_search="strict"), {"safe": "active"}, id="safe-strict"),
        pytest.param(Query("x", category="images"), {"searchType": "image"}, id="images"),
        pytest.param(Query("x", category="news"), {}, id="other-category"),
    ],
)
def test_filters_are_sent_under_the_vendors_names(query: Query, added: dict[str, str]) -> None:
    assert to_params(query, FIRST) == {"q": "x", "num": "3"} | added


@pytest.mark.parametrize(
    ("query", "windows"),
    [
        (Query("x", count=0), [(1, 1)]),
        (Query("x", count=10), [(1, 10)]),
        (Query("x", count=11), [(1, 10), (11, 1)]),
        (Query("x", count=60), [(1, 10), (11, 10), (21, 10), (31, 10), (41, 10)]),
        (Query("x", count=3, page=2), [(4, 3)]),
        (Query("x", count=50, page=2), [(51, 10), (61, 10), (71, 10), (81, 10), (91, 10)]),
        (Query("x", count=50, page=3), []),
        (Query("x", count=7, page=15), [(99, 2)]),
    ],
)
def test_results_are_requested_in_tens_up_to_the_hundredth(
    query: Query, windows: list[tuple[int, int]]
) -> None:
    assert [(window.start, window.size) for window in to_windows(query)] == windows


async def test_pages_become_one_answer_in_order() -> None:
    found, api = await search(Query("x", count=25), page_of(1000))
    assert len(api.requests) == 3
    assert [hit.url for hit in found.hits] == [f"https://a.example/{n}" for n in range(1, 26)]
    assert found.total == 1000
    assert found.raw is not None
    assert found.raw["queries"] == {
        "request": [{"startIndex": 1}],
        "nextPage": [{"startIndex": 11}],
    }
    assert isinstance(found.raw["items"], list)
    assert len(found.raw["items"]) == 25


async def test_no_page_is_requested_beyond_the_last_one() -> None:
    found, api = await search(Query("x", count=50), page_of(4))
    assert (len(found.hits), len(api.requests)) == (4, 1)


async def test_no_request_is_sent_beyond_the_hundredth_result() -> None:
    found, api = await search(Query("x", count=50, page=3))
    assert (found.hits, api.requests) == ((), [])


def failing_page(start: str, reply: httpx2.Response) -> Reply:
    good = page_of(1000)
    return lambda request: reply if request.url.params.get("start") == start else good(request)


async def test_a_further_page_that_fails_is_left_out() -> None:
    reply = failing_page("11", httpx2.Response(503))
    found, _ = await search(Query("x", count=30), reply)
    assert [hit.url.rpartition("/")[2] for hit in found.hits] == [
        str(number) for number in (*range(1, 11), *range(21, 31))
    ]


async def test_a_further_page_without_items_is_left_out() -> None:
    reply = failing_page("11", httpx2.Response(200, json={"searchInformation": {}}))
    found, _ = await search(Query("x", count=20), reply)
    assert len(found.hits) == 10


async def test_a_refused_key_is_reported_even_on_a_further_page() -> None:
    with pytest.raises(ProviderAuth):
        await search(Query("x", count=30), failing_page("21", httpx2.Response(401)))


async def test_a_failure_of_the_first_page_is_the_failure() -> None:
    with pytest.raises(ProviderRateLimited):
        await search(Query("x", count=30), httpx2.Response(429))


@pytest.mark.parametrize(
    ("name", "status", "leaf"),
    [
        ("quota_403", 403, ProviderRateLimited),
        ("error_403", 403, ProviderAuth),
        ("key_400", 400, ProviderAuth),
        ("error_400", 400, ProviderRejected),
    ],
)
async def test_error_codes_distinguish_quota_key_and_request(
    name: str, status: int, leaf: type[SearchError]
) -> None:
    with pytest.raises(SearchError) as caught:
        await search(Query("x"), httpx2.Response(status, json=provider_answer("google", name)))
    assert type(caught.value) is leaf
    assert caught.value.status == status


async def test_without_an_engine_nothing_is_sent() -> None:
    with pytest.raises(ProviderRejected) as caught:
        await search(Query("x"), engine_id=" ")
    assert "GOOGLE_SEARCH_ENGINE_ID" in str(caught.value)


def test_results_become_hits_with_dates_from_meta_tags() -> None:
    found = to_found(provider_answer("google", "search"))
    assert found.total == 12400
    assert found.hits == (
        Hit(
            title="PEP 636 – Structural Pattern Matching: Tutorial",
            url="https://peps.python.org/pep-0636/",
            snippet="This PEP is a tutorial for the pattern matching introduced by PEP 634.",
            provider="google",
        ),
        Hit(
            title="Five years of match",
            url="https://example.com/news/match",
            snippet="Looking back.",
            provider="google",
            published="2026-03-03T09:15:00+00:00",
        ),
        Hit("No pagemap", "https://example.net/", "", "google"),
    )


def test_an_images_address_is_that_of_its_page() -> None:
    (hit,) = to_found(provider_answer("google", "images")).hits
    assert hit.url == "https://example.com/owls"


def test_an_answer_without_items_is_an_empty_result_with_its_json() -> None:
    answer = provider_answer("google", "empty")
    assert to_found(answer) == ProviderResults((), total=0, raw=answer)


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "customsearch#search"},
        {"items": None},
        {"items": {"0": {}}},
        {"items": ["text"]},
        {"items": [{"title": "no link", "pagemap": {"metatags": ["text"]}}]},
    ],
)
def test_answers_in_another_format_are_refused(body: dict[str, object]) -> None:
    with pytest.raises(ProviderAnswerInvalid):
        to_found(body)


def test_days_are_a_range_and_domains_are_operators() -> None:
    query = Query(
        "x",
        site="s.org",
        include_domains=("a.org",),
        exclude_domains=("c.org",),
        published_after="2024-02-20",
        published_before="2024-03-10",
    )
    params = to_params(query, ResultWindow(1, 10))
    assert params["sort"] == "date:r:20240220:20240310"
    assert params["q"] == "x site:a.org -site:c.org"
    assert params["siteSearch"] == "s.org"


def test_images_have_no_dates() -> None:
    query = Query("x", category="images", published_after="2024-02-20")
    assert "sort" not in to_params(query, ResultWindow(1, 10))
    assert "published_after" not in SPEC.filters(query)
