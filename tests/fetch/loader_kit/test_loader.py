import json
from collections.abc import AsyncIterator

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    AddressRefused,
    InputError,
    KindlyError,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageTimeout,
    PageUnreachable,
)
from kindly.fetch import FetchLimits, GuardPolicy, open_fetcher
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.responses import to_page
from kindly.fetch.chain.types import PageRequest
from kindly.fetch.guard.guard import Guard
from kindly.fetch.loader_kit.loader import LoaderClient, Loaders, LoaderSettings, NotLoaded
from kindly.fetch.loader_kit.loader_client import LoaderChains
from kindly.fetch.loaders.github.loader import GITHUB
from kindly.models import Page
from kindly.urls import Url, parse
from tests.support.fakes import FakeSecret
from tests.support.fetch_fakes import START, FakeTime, ScriptedHop, reply
from tests.support.loader_api import FakeApi, FakeLoader
from tests.support.site import Answer, Site, running_site

pytestmark = pytest.mark.anyio


class PageLoader(FakeLoader):
    """Looks at a page, and gives up."""

    async def load(self, url: Url, client: LoaderClient) -> Page:
        await client.page(url)
        raise NotLoaded("not there", url=str(url))


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


async def test_first_matching_loader_loads_and_how_names_it() -> None:
    other, fitting = FakeLoader("other", "b.example"), FakeLoader("fitting")

    page = await Loaders((other, fitting), chains().open_client, pages)(page_request())

    assert (page.body, str(page.how), page.url) == (
        b"# Loaded",
        "loader:fitting",
        "https://final.example/",
    )
    assert page.requested_url == "https://a.example/"
    assert (other.loaded, fitting.loaded) == ([], ["https://a.example/"])


async def test_other_addresses_are_pages() -> None:
    page = await Loaders((FakeLoader(),), chains().open_client, pages)(
        page_request("https://b.example/")
    )

    assert (page.body, str(page.how)) == (b"page", "http")


@pytest.mark.parametrize(
    "error",
    [
        NotLoaded("no", url="u"),
        PageNotFound("no", url="u"),
        PageForbidden("no", url="u", status=403),
        PageRateLimited("no", url="u"),
        PageUnreachable("no", url="u", status=500),
        PageTimeout("no", url="u"),
        AddressRefused("no", url="u"),
        InputError("no", field="url"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_loader_that_fails_leaves_the_page_to_the_next(error: KindlyError) -> None:
    first, second = FakeLoader("first", error=error), FakeLoader("second", error=error)

    page = await Loaders((first, second), chains().open_client, pages)(page_request())

    assert (page.body, str(page.how)) == (b"page", "http")
    assert (len(first.loaded), len(second.loaded)) == (1, 1)


async def test_slow_loader_leaves_time_for_the_page() -> None:
    with anyio.fail_after(120):
        page = await Loaders((FakeLoader(hangs=True),), chains().open_client, pages)(
            page_request(seconds=0.02)
        )

    assert page.body == b"page"


async def test_only_the_plain_page_is_a_conditional_request() -> None:
    known = await pages(page_request())
    requests: list[PageRequest] = []

    async def noting(request: PageRequest) -> Page:
        requests.append(request)
        return known

    shared = chains()
    shared.pages = noting
    load = Loaders((PageLoader(),), shared.open_client, noting)

    await load(PageRequest(parse("https://a.example/"), FakeTime().deadline(), known=known))

    assert [one.known for one in requests] == [None, known]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    with anyio.fail_after(120):
        async with running_site() as running:
            yield running


async def test_loader_uses_the_whole_chain_and_its_page_is_cached(site: Site) -> None:
    site.add("/robots.txt", Answer(b"User-agent: *\nDisallow: /"))
    release = {"tag_name": "1.0", "body": "Notes."}
    site.add("/repos/o/r/releases/latest", Answer(json.dumps(release).encode()))
    settings = LoaderSettings(
        {"GITHUB_TOKEN": FakeSecret("ghp_1")}, {"GITHUB_API_URL": site.url("")}
    )
    policy = GuardPolicy(allow_private=("127.0.0.1",))
    url = parse("https://github.com/o/r/releases/latest")

    async with open_fetcher(FetchLimits(), policy, loaders=settings) as fetcher:
        page = await fetcher.fetch(url, Deadline.after(60))
        again = await fetcher.fetch(url, Deadline.after(60))

    assert page.body.startswith(b"# o/r 1.0")
    assert (str(page.how), str(again.how)) == (f"loader:{GITHUB.name}", "cache")
    (request,) = site.requests
    assert request.headers["accept"] == "application/vnd.github+json"
    assert request.headers["authorization"] == "Bearer ghp_1"
