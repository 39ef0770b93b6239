"""DuckDuckGo through the library ddgs."""

import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.models import Category, Hit, ProviderResults, Query
from kindly.search.providers.duckduckgo import (
    MAX_TIMEOUT_S,
    NOT_INSTALLED,
    SPEC,
    DdgsLibrary,
    DuckDuckGo,
    load_library,
    run_search,
    to_options,
    to_region,
)
from kindly.search.providers.duckduckgo import WEB as WEB_RESULTS
from tests.support.fake_ddgs import DDGSError, FakeDdgs, RatelimitError, TimedOutError
from tests.support.fakes import PROVIDER_DATA, FakeApi, Reply, provider_answer

pytestmark = pytest.mark.anyio

X = Query("x")
PLAIN = {
    "query": "x",
    "region": "wt-wt",
    "safesearch": "moderate",
    "timelimit": None,
    "page": 1,
}


def stored_page(name: str) -> str:
    return (PROVIDER_DATA / "duckduckgo" / f"{name}.html").read_text(encoding="utf-8")


def answering(reply: Reply, **options: Any) -> FakeDdgs:
    return FakeDdgs(FakeApi({"vendor.example": [reply]}), **options)


async def search(library: FakeDdgs, query: Query = X) -> ProviderResults:
    with anyio.fail_after(120):
        return await DuckDuckGo(library).search(query, Deadline.after(5))


async def failure(library: FakeDdgs, query: Query = X) -> SearchError:
    with pytest.raises(SearchError) as caught:
        await search(library, query)
    assert caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize(
    ("query", "added"),
    [
        pytest.param(Query("x", site="a.example"), {"query": "x site:a.example"}, id="site"),
        pytest.param(Query("x", time_range="day"), {"timelimit": "d"}, id="day"),
        pytest.param(Query("x", time_range="week"), {"timelimit": "w"}, id="week"),
        pytest.param(Query("x", time_range="month"), {"timelimit": "m"}, id="month"),
        pytest.param(Query("x", time_range="year"), {"timelimit": "y"}, id="year"),
        pytest.param(Query("x", safe_search="off"), {"safesearch": "off"}, id="safe-off"),
        pytest.param(Query("x", safe_search="strict"), {"safesearch": "on"}, id="safe-strict"),
        pytest.param(Query("x", language="de"), {"region": "de-de"}, id="language"),
        pytest.param(Query("x", page=2), {"page": 2}, id="page"),
    ],
)
def test_filters_are_passed_under_the_librarys_names(
    query: Query, added: dict[str, object]
) -> None:
    assert to_options(query) == PLAIN | added


@pytest.mark.parametrize(
    ("language", "region", "expected"),
    [
        (None, None, "wt-wt"),
        ("en", None, "us-en"),
        ("ja", None, "jp-jp"),
        ("uk", None, "ua-uk"),
        ("nb", None, "no-no"),
        ("tlh", None, "wt-wt"),
        ("de-AT", None, "at-de"),
        ("fr", "CH", "ch-fr"),
        ("en", "CH", "ch-de"),
        (None, "GB", "uk-en"),
        (None, "us", "us-en"),
        (None, "xx", "wt-wt"),
    ],
)
def test_language_and_region_select_one_of_its_regions(
    language: str | None, region: str | None, expected: str
) -> None:
    assert to_region(Query("x", language=language, region=region)) == expected


async def test_results_become_hits_cut_to_the_count() -> None:
    library = answering(httpx2.Response(200, json=provider_answer("duckduckgo", "search")))
    found = await search(library, Query("x", count=1))
    assert found.hits == (
        Hit(
            title="PEP 636 – Structural Pattern Matching: Tutorial",
            url="https://peps.python.org/pep-0636/",
            snippet="This PEP is a tutorial for the pattern matching introduced by PEP 634.",
            provider="duckduckgo",
        ),
    )
    assert library.searches == [PLAIN]
    assert library.timeouts == [5]


@pytest.mark.parametrize(
    ("category", "url", "published"),
    [
        ("news", "https://example.com/news/python", "2026-03-01T10:00:00+00:00"),
        ("images", "https://example.com/owls", None),
        ("videos", "https://www.youtube.com/watch?v=1", "2026-01-05T00:00:00.0000000"),
    ],
)
async def test_results_of_other_categories_become_hits(
    category: Category, url: str, published: str | None
) -> None:
    reply = httpx2.Response(200, json=provider_answer("duckduckgo", category))
    (hit,) = (await search(answering(reply), Query("x", category=category))).hits
    assert (hit.url, hit.published) == (url, published)


async def test_the_librarys_time_out_is_bounded() -> None:
    library = answering(httpx2.Response(200, json={"results": []}))
    await DuckDuckGo(library).search(Query("x"), Deadline.after(500))
    assert library.timeouts == [MAX_TIMEOUT_S]


@pytest.mark.parametrize(
    ("reply", "leaf"),
    [
        (httpx2.Response(202, html=stored_page("challenge")), ProviderBlocked),
        (httpx2.Response(202), ProviderBlocked),
        (httpx2.Response(403), ProviderBlocked),
        (httpx2.Response(429), ProviderRateLimited),
        (httpx2.Response(503), ProviderFailed),
        (httpx2.Response(200, html=stored_page("challenge")), ProviderBlocked),
        (httpx2.Response(200, html="<p>Hi"), ProviderAnswerInvalid),
        (httpx2.ReadTimeout("slow"), ProviderTimeout),
        (httpx2.ConnectError("no"), ProviderUnreachable),
    ],
    ids=["202", "202-bare", "403", "429", "503", "challenge", "html", "timeout", "refused"],
)
async def test_a_refusal_is_distinguished_from_no_results(
    reply: Reply, leaf: type[SearchError]
) -> None:
    error = await failure(answering(reply))
    assert type(error) is leaf
    assert error.try_next
    assert error.provider == "duckduckgo"


async def test_empty_json_with_a_challenge_is_a_block() -> None:
    page = httpx2.Response(200, json={"results": [], "html": "<div class='anomaly-modal'>"})
    assert type(await failure(answering(page))) is ProviderBlocked


async def test_no_results_is_an_answer() -> None:
    reply = httpx2.Response(200, json=provider_answer("duckduckgo", "empty"))
    assert await search(answering(reply)) == ProviderResults(())


@pytest.mark.parametrize(
    ("raised", "leaf"),
    [
        (RatelimitError("x"), ProviderRateLimited),
        (DDGSError("x"), ProviderUnreachable),
        (KeyError("x"), ProviderAnswerInvalid),
    ],
)
async def test_the_librarys_errors_become_search_errors(
    raised: Exception, leaf: type[SearchError]
) -> None:
    library = answering(httpx2.Response(200), raised=raised)
    assert type(await failure(library)) is leaf


@dataclass
class NoToken:
    """A library whose page of tokens came, but without one."""

    def __call__(self) -> DdgsLibrary:
        class Engine:
            def __init__(self, timeout: int) -> None:
                self.http_client: Any = self

            def request(self) -> httpx2.Response:
                return httpx2.Response(200, html="<p>Hi")

            def search(self, **options: Any) -> None:
                self.http_client.request()
                raise DDGSError("Could not extract vqd.")

        engines = {"text": {"duckduckgo": Engine}}
        return DdgsLibrary(engines, DDGSError, TimeoutError, RatelimitError, (ValueError,))


def test_a_page_without_its_token_is_a_block() -> None:
    assert type(run_search(NoToken(), WEB_RESULTS, Query("x"), 1)) is ProviderBlocked


async def test_a_library_without_the_category_is_an_unusable_answer() -> None:
    library = answering(httpx2.Response(200), verticals=("text",))
    assert type(await failure(library, Query("x", category="news"))) is ProviderAnswerInvalid


async def test_a_missing_library_is_named_with_the_command_that_installs_it() -> None:
    def missing() -> DdgsLibrary:
        raise ProviderRejected(NOT_INSTALLED, provider=SPEC.name)

    with pytest.raises(ProviderRejected) as caught:
        await DuckDuckGo(missing).search(Query("x"), Deadline.after(5))
    assert "KINDLY_KEYLESS" in str(caught.value)
    assert "[keyless]" in str(caught.value)
    assert not caught.value.try_next


async def test_a_search_past_its_deadline_is_abandoned() -> None:
    over = threading.Event()

    def stuck() -> DdgsLibrary:
        over.wait(5)
        raise ProviderRejected("too late", provider=SPEC.name)

    with anyio.fail_after(120), pytest.raises(ProviderTimeout):
        await DuckDuckGo(stuck).search(Query("x"), Deadline.after(0.01))
    over.set()


async def test_no_request_is_sent_after_the_deadline() -> None:
    library = answering(httpx2.Response(200))
    with pytest.raises(ProviderTimeout):
        await DuckDuckGo(library).search(Query("x"), Deadline.after(0))
    assert library.searches == []


@dataclass
class Canned:
    """The library's client with one page for every request."""

    page: str
    status_code: int = 200

    def request(self, *args: Any, **kwargs: Any) -> Any:
        return httpx2.Response(self.status_code, html=self.page)


@pytest.mark.parametrize(
    ("name", "status", "outcome"),
    [
        ("results", 200, ["https://peps.python.org/pep-0636/"]),
        ("no_results", 200, []),
        ("challenge", 200, ProviderBlocked),
        ("challenge", 202, ProviderBlocked),
    ],
)
async def test_the_real_library_parses_the_pages(
    name: str, status: int, outcome: list[str] | type[SearchError]
) -> None:
    pytest.importorskip("ddgs", reason="the extra keyless is not installed")
    real = load_library()

    class Offline(real.engines["text"]["duckduckgo"]):  # type: ignore[misc]  # a class of the library
        def __init__(self, timeout: int) -> None:
            super().__init__(timeout=timeout)
            self.http_client = Canned(stored_page(name), status)

    library = DdgsLibrary(
        {"text": {"duckduckgo": Offline}}, real.error, real.timeout, real.rate_limit, real.broken
    )
    provider = DuckDuckGo(lambda: library)
    with anyio.fail_after(120):
        if isinstance(outcome, list):
            found = await provider.search(Query("x"), Deadline.after(5))
            assert [hit.url for hit in found.hits] == outcome
        else:
            with pytest.raises(outcome):
                await provider.search(Query("x"), Deadline.after(5))


def test_loading_without_the_library_says_so() -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    with pytest.raises(ProviderRejected) as caught:
        load_library(missing)
    assert str(caught.value) == NOT_INSTALLED
    assert caught.value.__context__ is None


def test_the_library_is_loaded_from_its_modules() -> None:
    engines = {"text": {"duckduckgo": object}}
    modules = {
        "ddgs.engines": SimpleNamespace(ENGINES=engines),
        "ddgs.exceptions": SimpleNamespace(
            DDGSException=DDGSError,
            TimeoutException=TimedOutError,
            RatelimitException=RatelimitError,
        ),
        "lxml.etree": SimpleNamespace(LxmlError=SyntaxError),
    }
    library = load_library(modules.__getitem__)
    assert library.engines is engines
    assert (library.error, library.timeout, library.rate_limit) == (
        DDGSError,
        TimedOutError,
        RatelimitError,
    )
    assert SyntaxError in library.broken


@pytest.mark.parametrize(
    ("domains", "is_sent"), [((), True), (("a.org",), True), (("a.org", "b.org"), False)]
)
def test_several_domains_are_not_said_to_be_filtered(
    domains: tuple[str, ...], is_sent: bool
) -> None:
    sent = SPEC.filters(Query("x", include_domains=domains))
    assert ("include_domains" in sent) is is_sent
    assert "published_after" not in sent
