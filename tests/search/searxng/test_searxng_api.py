"""SearXNG's HTTP interface: requests, JSON and results pages."""

import json

import anyio
import httpx2
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderBlocked,
    ProviderRateLimited,
    SearchError,
)
from kindly.models import Hit, ProviderResults, Query
from kindly.search.providers.searxng import SPEC
from kindly.search.searxng.searxng_api import (
    build_request,
    json_is_off,
    parse,
    parse_json,
    parse_page,
    search_instance,
    shown,
    to_params,
)
from kindly.search.vendor_api import VendorApi
from tests.support.fakes import PROVIDER_DATA, FakeApi, provider_answer

pytestmark = pytest.mark.anyio

PLAIN = {"q": "x", "categories": "general"}


def stored_page(name: str) -> str:
    return (PROVIDER_DATA / "searxng" / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("query", "added"),
    [
        pytest.param(Query("x", site="a.example"), {"q": "x site:a.example"}, id="site"),
        pytest.param(Query("x", time_range="week"), {"time_range": "week"}, id="time-range"),
        pytest.param(Query("x", language="de"), {"language": "de"}, id="language"),
        pytest.param(Query("x", language="de", region="at"), {"language": "de-AT"}, id="both"),
        pytest.param(Query("x", language="pt_br"), {"language": "pt-BR"}, id="with-region"),
        pytest.param(Query("x", language="zh-hans"), {"language": "zh"}, id="with-script"),
        pytest.param(Query("x", language="all!"), {}, id="no-language"),
        pytest.param(Query("x", region="DE"), {}, id="region-alone"),
        pytest.param(Query("x", safe_search="off"), {"safesearch": "0"}, id="safe-off"),
        pytest.param(Query("x", safe_search="moderate"), {"safesearch": "1"}, id="safe-moderate"),
        pytest.param(Query("x", safe_search="strict"), {"safesearch": "2"}, id="safe-strict"),
        pytest.param(Query("x", category="science"), {"categories": "science"}, id="category"),
        pytest.param(Query("x", page=3), {"pageno": "3"}, id="page"),
        pytest.param(Query("x", count=50), {}, id="count"),
    ],
)
def test_filters_are_sent_under_searxngs_names(query: Query, added: dict[str, str]) -> None:
    assert to_params(query) == PLAIN | added


async def test_request_passes_the_checks_of_the_limiter() -> None:
    async with FakeApi({}).client() as client:
        request = build_request(
            client,
            "https://a.example/searx/",
            Query("x", language="de"),
            json=True,
            user_agent="UA",
        )
        page = build_request(client, "https://a.example", Query("x"), json=False)
        own_agent = client.headers["User-Agent"]
    assert request.url.path == "/searx/search"
    assert dict(request.url.params) == PLAIN | {"language": "de", "format": "json"}
    assert "text/html" in request.headers["Accept"]
    assert request.headers["Accept-Language"].startswith("de")
    assert "gzip" in request.headers["Accept-Encoding"]
    assert request.headers["Sec-Fetch-Mode"] == "navigate"
    assert request.headers["User-Agent"] == "UA"
    assert "format" not in page.url.params
    assert page.headers["User-Agent"] == own_agent


def test_json_becomes_hits_with_engines_scores_dates_and_total() -> None:
    assert parse_json(provider_answer("searxng", "search"), SPEC, instance="a") == ProviderResults(
        (
            Hit(
                title="PEP 636 – Structural Pattern Matching: Tutorial",
                url="https://peps.python.org/pep-0636/",
                snippet="This PEP is a tutorial for the pattern matching introduced by PEP 634.",
                provider="searxng",
                published="2020-09-12T00:00:00",
                score=3.0,
                engines=("brave", "duckduckgo"),
            ),
            Hit(
                title="4. More Control Flow Tools",
                url="https://docs.python.org/3/tutorial/controlflow.html",
                snippet="A match statement takes an expression.",
                provider="searxng",
                score=1.0,
                engines=("duckduckgo",),
            ),
        ),
        total=1240,
        engines=("brave", "duckduckgo"),
        instance="a",
    )


def test_a_single_engine_becomes_a_list_and_a_total_of_zero_none() -> None:
    body: dict[str, object] = {
        "number_of_results": 0,
        "results": [{"url": "https://a.example/", "engine": "mojeek"}],
    }
    found = parse_json(body, SPEC)
    assert (found.hits[0].engines, found.total) == (("mojeek",), None)


def test_page_becomes_the_same_hits() -> None:
    assert parse_page(stored_page("results"), SPEC, instance="a") == ProviderResults(
        (
            Hit(
                title="PEP 636 – Structural Pattern Matching: Tutorial",
                url="https://peps.python.org/pep-0636/",
                snippet="This PEP is a tutorial for the pattern matching introduced by PEP 634 "
                "& explained there.",
                provider="searxng",
                published="2020-09-12 00:00:00",
                engines=("brave", "duckduckgo"),
            ),
            Hit(
                title="How a captcha works: too many requests",
                url="https://example.net/?a=1&b=2",
                snippet="",
                provider="searxng",
                engines=("duckduckgo",),
            ),
            Hit(
                title="An owl",
                url="https://example.com/owls",
                snippet="An owl in a tree",
                provider="searxng",
                engines=("bing images",),
            ),
        ),
        total=1240,
        engines=("brave", "duckduckgo", "bing images"),
        instance="a",
    )


def test_a_page_without_results_is_an_empty_result() -> None:
    assert parse_page(stored_page("no_results"), SPEC) == ProviderResults(())


def test_result_without_a_link_is_left_out() -> None:
    page = (
        '<div id="urls"><article class="result"><p>x</p></article>'
        '<article class="result"><h3><a href="https://a.example/">A</a></h3></article></div>'
    )
    (hit,) = parse_page(page, SPEC).hits
    assert (hit.title, hit.engines) == ("A", ())


OLD_DIALOG = (
    '<div id="results"><div id="sidebar"><div id="engines_msg"><div class="dialog-error">'
    '</div></div></div><div id="urls"></div></div>'
)


@pytest.mark.parametrize(
    ("answer", "leaf"),
    [
        pytest.param(json.dumps(provider_answer("searxng", "unresponsive")), ProviderBlocked),
        pytest.param(stored_page("engines_failed"), ProviderBlocked),
        pytest.param(OLD_DIALOG, ProviderBlocked),
        pytest.param("<title>Just a moment...</title>", ProviderBlocked),
        pytest.param("<html><h1>Too Many Requests</h1>", ProviderRateLimited),
        pytest.param("Too Many Requests", ProviderRateLimited),
        pytest.param("<html><h1>Welcome</h1>", ProviderAnswerInvalid),
        pytest.param("", ProviderAnswerInvalid),
        pytest.param("[]", ProviderAnswerInvalid),
        pytest.param("{}", ProviderAnswerInvalid),
        pytest.param('{"results": {}}', ProviderAnswerInvalid),
        pytest.param("[" * 100_000, ProviderAnswerInvalid),
    ],
    ids=[
        "json-engines-failed",
        "page-engines-failed",
        "old-page-engines-failed",
        "challenge",
        "limiter-page",
        "limiter-text",
        "other-page",
        "nothing",
        "list",
        "empty-object",
        "other-shape",
        "deep",
    ],
)
def test_block_limit_and_unusable_pages_are_distinguished_from_no_results(
    answer: str, leaf: type[SearchError]
) -> None:
    with pytest.raises(SearchError) as caught:
        parse(answer.encode(), SPEC)
    assert type(caught.value) is leaf
    assert caught.value.try_next


def test_an_instant_answer_without_results_is_no_failure() -> None:
    body: dict[str, object] = {
        "results": [],
        "answers": [{"answer": "4"}],
        "unresponsive_engines": [["a", "b"]],
    }
    assert parse_json(body, SPEC).hits == ()


def test_a_byte_order_mark_and_spaces_are_ignored() -> None:
    assert parse("\ufeff\n".encode() + stored_page("no_results").encode(), SPEC).hits == ()


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("https://a.example/", "https://a.example"),
        ("https://user:word@a.example:8080/searx/", "https://a.example:8080/searx"),
    ],
)
def test_instance_is_shown_without_its_password(address: str, seen: str) -> None:
    assert shown(address) == seen


async def test_html_in_place_of_json_is_parsed() -> None:
    reply = httpx2.Response(200, html=stored_page("results"))
    async with FakeApi({"a.example": [reply]}).client() as client:
        with anyio.fail_after(120):
            found = await search_instance(
                VendorApi(client, SPEC),
                "https://a.example",
                Query("x"),
                Deadline.after(60),
                json=True,
            )
    assert (len(found.hits), found.instance) == (3, "https://a.example")


@pytest.mark.parametrize(("status", "off"), [(403, True), (401, False)])
async def test_a_refused_format_is_recognised(status: int, off: bool) -> None:
    async with FakeApi({"a.example": [httpx2.Response(status)]}).client() as client:
        with pytest.raises(ProviderAuth) as caught:
            await search_instance(
                VendorApi(client, SPEC),
                "https://a.example",
                Query("x"),
                Deadline.after(60),
                json=True,
            )
    assert json_is_off(caught.value) is off
