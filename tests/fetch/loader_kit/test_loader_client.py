import gc
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    FetchError,
    InputError,
    PageRateLimited,
    PageTimeout,
    PageTooLarge,
    PageUnreachable,
)
from kindly.fetch import FetchLimits, GuardPolicy, open_fetcher
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.responses import to_page
from kindly.fetch.chain.types import HopReply, PageRequest
from kindly.fetch.guard.guard import Guard
from kindly.fetch.loader_kit.loader import LoaderClient, LoaderSettings, NotLoaded
from kindly.fetch.loader_kit.loader_client import LoaderChains, cooldown_s
from kindly.models import Page
from kindly.urls import parse
from tests.support.fakes import FakeSecret
from tests.support.fetch_fakes import START, FakeTime, ScriptedHop, reply
from tests.support.loader_api import FakeApi, FakeLoader, Recorded, answer, recorded
from tests.support.site import Answer, Site, running_site

pytestmark = pytest.mark.anyio

API = "https://api.example/v1/thing"


async def pages(request: PageRequest) -> Page:
    return to_page(reply(body=b"page"), request.url, START)


def chains(
    settings: LoaderSettings | None = None, hop: FakeApi | ScriptedHop | None = None
) -> LoaderChains:
    times = FakeTime().clock
    apis = Redirects(hop or ScriptedHop([reply()]), Guard(GuardPolicy()), 5, times)
    return LoaderChains(pages, apis, settings or LoaderSettings(), times)


def page_request(url: str = "https://a.example/", seconds: float = 30.0) -> PageRequest:
    return PageRequest(parse(url), FakeTime().deadline(seconds))


def getting(
    loader: FakeLoader | None = None,
    settings: LoaderSettings | None = None,
    api: FakeApi | None = None,
) -> LoaderClient:
    return chains(settings, api).open_client(loader or FakeLoader(), page_request())


@pytest.mark.parametrize(
    ("value", "token"),
    [("abc", "abc"), (" abc\n", "abc"), ("", None), ("a b", None), ("a\nb", None), ("clé", None)],
)
def test_token_is_one_that_a_header_can_carry(value: str, token: str | None) -> None:
    settings = LoaderSettings({"FAKE_TOKEN": FakeSecret(value)})

    assert getting(settings=settings).token("FAKE_TOKEN") == token
    assert getting().token("FAKE_TOKEN") is None


def test_loader_cannot_have_the_token_of_another() -> None:
    settings = LoaderSettings({"OTHER_TOKEN": FakeSecret("abc")})

    with pytest.raises(NotLoaded):
        getting(settings=settings).token("OTHER_TOKEN")


def test_address_is_below_the_base_that_is_set() -> None:
    settings = LoaderSettings(base_urls={"FAKE_API_URL": "http://gateway.example:8080/x/"})

    assert str(getting().address("FAKE_API_URL", "/a%20b", {"q": "x y&z"})) == (
        "https://api.example/v1/a%20b?q=x+y%26z"
    )
    assert str(getting(settings=settings).address("FAKE_API_URL", "/a")) == (
        "http://gateway.example:8080/x/a"
    )
    assert (
        str(getting().address("FAKE_LANGUAGE_URL", "/a", {"{language}": "de", "b": "c"}))
        == "https://de.example/a?b=c"
    )


@pytest.mark.parametrize("word", ["", "a.b/", "x@y", "a:1"])
def test_placeholder_that_would_change_the_host_is_refused(word: str) -> None:
    with pytest.raises(InputError):
        getting().address("FAKE_LANGUAGE_URL", "/a", {"{language}": word})


async def test_api_answers_with_its_reply_and_json_decodes_it() -> None:
    client = getting(api=FakeApi({API: answer({"a": 1}, etag="x")}))

    assert (await client.api(parse(API))).header("etag") == "x"
    assert await client.json(parse(API)) == {"a": 1}


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<p>", b"[" * 100_000], ids=["none", "cut", "html", "deep"]
)
async def test_answer_that_is_not_json_is_not_loaded(body: bytes) -> None:
    gc.collect()  # what other tests left must not be finalised where the stack is full
    with pytest.raises(NotLoaded):
        await getting(api=FakeApi({API: Recorded(body)})).json(parse(API))


async def test_answer_that_is_cut_is_too_large() -> None:
    hop = ScriptedHop([replace(reply(body=b'{"a":'), cut=True)])
    client = chains(hop=hop).open_client(FakeLoader(), page_request())
    with pytest.raises(PageTooLarge):
        await client.json(parse(API))


@pytest.mark.parametrize(
    "failing",
    [Recorded(status=403), Recorded(status=500), PageTimeout("no", url=f"{API}?key=canary")],
    ids=["refused", "failed", "slow"],
)
async def test_error_never_shows_the_query(failing: Recorded | Exception) -> None:
    with pytest.raises(FetchError) as caught:
        await getting(api=FakeApi({API: failing})).api(parse(f"{API}?key=canary"))

    assert caught.value.url == API
    assert "canary" not in str(caught.value)


async def test_post_request_is_not_redirected() -> None:
    moved = Recorded(status=307, headers=(("location", "https://api.example/other"),))
    api = FakeApi({API: moved})

    with pytest.raises(PageUnreachable):
        await getting(api=api).api(parse(API), body=b"{}")

    assert len(api.asked) == 1


async def test_headers_are_not_sent_again_after_a_redirect_over_another_origin() -> None:
    away = Recorded(status=302, headers=(("location", "https://b.example/"),))
    back = Recorded(status=302, headers=(("location", "https://api.example/end"),))
    api = FakeApi({API: away, "https://b.example/": back, "https://api.example/end": answer(1)})

    await getting(api=api).api(parse(API), (("Authorization", "x"),))

    assert [ask.headers for ask in api.asked] == [(("Authorization", "x"),), (), ()]


async def test_api_in_a_cooldown_is_not_called_and_others_are() -> None:
    api = FakeApi({API: answer(1), "https://b.example/": answer(2)})
    client = api.chains().open_client(FakeLoader(), page_request())

    client.cool_down(parse(API), 60.0)
    client.cool_down(parse(API), 10.0)
    client.cool_down(parse("https://b.example/"), 0.0)

    with pytest.raises(PageRateLimited) as caught:
        await client.api(parse(API))
    assert caught.value.retry_after_s == 60.0
    assert await client.json(parse("https://b.example/")) == 2
    api.time.passed_s = 60.0
    assert await client.json(parse(API)) == 1


NOW_S = int(START.timestamp())


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (200, {}, 0.0),
        (200, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(NOW_S + 60)}, 60.0),
        (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(NOW_S + 60)}, 60.0),
        (200, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "30"}, 30.0),
        (200, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(NOW_S - 5)}, 0.0),
        (200, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "soon"}, 0.0),
        (200, {"x_ratelimit_remaining": "0"}, 0.0),
        (200, {"x_ratelimit_remaining": "7", "x_ratelimit_reset": str(NOW_S + 60)}, 0.0),
        (403, {"retry_after": "20"}, 20.0),
        (429, {"retry_after": "20", "x_ratelimit_remaining": "0"}, 20.0),
        (200, {"retry_after": "20"}, 0.0),
    ],
)
def test_cooldown_is_read_from_the_headers(
    status: int, headers: dict[str, str], seconds: float
) -> None:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())

    assert cooldown_s(HopReply(parse(API), status, pairs), START) == seconds


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    with anyio.fail_after(120):
        async with running_site() as running:
            yield running


async def test_body_is_posted_as_json(site: Site) -> None:
    site.add("/graphql", Answer(recorded("github", "discussion.json").body))
    settings = LoaderSettings(
        {"GITHUB_TOKEN": FakeSecret("ghp_1")}, {"GITHUB_API_URL": site.url("")}
    )
    policy = GuardPolicy(allow_private=("127.0.0.1",))
    url = parse("https://github.com/o/r/discussions/1")

    async with open_fetcher(FetchLimits(), policy, loaders=settings) as fetcher:
        page = await fetcher.fetch(url, Deadline.after(60))

    (request,) = site.requests
    assert page.body.startswith(b"# How to pool?")
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert json.loads(request.body)["variables"]["number"] == 1
