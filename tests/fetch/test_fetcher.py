"""The fetch stage as a whole, against a small site on loopback."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import SocketStream

from kindly.budget import Deadline
from kindly.errors import (
    AddressRefused,
    FetchError,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageTimeout,
    PageUnreachable,
    RobotsRefused,
)
from kindly.fetch import Fetcher, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.models import OutcomeKind, Page
from kindly.urls import parse
from tests.support.fetch_fakes import FakeDialler, FakeTime
from tests.support.site import (
    ARTICLE,
    Answer,
    Site,
    SiteRequest,
    hang_up,
    html,
    once,
    running_site,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    with anyio.fail_after(120):
        async with running_site() as running:
            yield running


@asynccontextmanager
async def fetching(
    limits: FetchLimits | None = None, seams: Seams | None = None
) -> AsyncIterator[Fetcher]:
    policy = GuardPolicy(allow_private=("127.0.0.1",))
    async with open_fetcher(limits, policy, seams=seams) as fetcher:
        yield fetcher


async def fetch(
    url: str,
    limits: FetchLimits | None = None,
    *,
    seams: Seams | None = None,
    seconds: float = 10.0,
) -> Page:
    async with fetching(limits, seams) as fetcher:
        return await fetcher.fetch(parse(url), Deadline.after(seconds))


async def test_page_is_fetched_with_its_type_and_bytes(site: Site) -> None:
    page = await fetch(site.url("/article"))

    assert page.body == ARTICLE.encode()
    assert (page.status, page.media_type, page.charset) == (200, "text/html", "utf-8")
    assert page.url == page.requested_url == site.url("/article")
    assert str(page.how) == "http"


@pytest.mark.parametrize("path", ["/slow-headers", "/slow-drip"])
async def test_slow_page_ends_with_the_deadline(site: Site, path: str) -> None:
    with pytest.raises(PageTimeout) as caught:
        await fetch(site.url(path), seconds=0.1)

    assert caught.value.url == site.url(path)


async def test_own_timeout_ends_a_slow_page_before_the_deadline(site: Site) -> None:
    with pytest.raises(PageTimeout):
        await fetch(site.url("/slow-headers"), FetchLimits(timeout_s=0.1))


@pytest.mark.parametrize(
    ("status", "leaf", "outcome"),
    [
        (401, PageForbidden, OutcomeKind.AUTH),
        (403, PageForbidden, OutcomeKind.BLOCKED),
        (404, PageNotFound, OutcomeKind.NOT_FOUND),
        (410, PageNotFound, OutcomeKind.NOT_FOUND),
        (418, PageForbidden, OutcomeKind.BLOCKED),
        (429, PageRateLimited, OutcomeKind.RATE_LIMITED),
        (451, PageForbidden, OutcomeKind.BLOCKED),
        (500, PageUnreachable, OutcomeKind.UNREACHABLE),
        (304, PageUnreachable, OutcomeKind.UNREACHABLE),
    ],
)
async def test_status_becomes_its_error(
    site: Site, status: int, leaf: type[FetchError], outcome: OutcomeKind
) -> None:
    with pytest.raises(leaf) as caught:
        await fetch(site.url(f"/status/{status}"), seams=Seams(clock=FakeTime().clock))

    assert (caught.value.status, caught.value.kind) == (status, outcome)


async def test_other_successes_are_pages(site: Site) -> None:
    assert (await fetch(site.url("/status/201"))).status == 201


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_server_error_is_retried_once(site: Site, status: int) -> None:
    url = site.add("/flaky", once(Answer(b"", status), html(ARTICLE)))
    time = FakeTime()

    page = await fetch(url, seams=Seams(clock=time.clock))

    assert page.body == ARTICLE.encode()
    assert site.count("/flaky") == 2
    assert time.slept == [pytest.approx(0.3)]


async def test_dropped_connection_is_retried_once(site: Site) -> None:
    async def drop_once(request: SiteRequest, stream: SocketStream) -> Answer | None:
        if site.count("/flaky") == 1:
            await hang_up(request, stream)
            return None
        return html(ARTICLE)

    page = await fetch(site.add("/flaky", drop_once), seams=Seams(clock=FakeTime().clock))

    assert page.body == ARTICLE.encode()
    assert site.count("/flaky") == 2


async def test_not_found_is_not_retried(site: Site) -> None:
    with pytest.raises(PageNotFound):
        await fetch(site.url("/nothing"))

    assert site.count("/nothing") == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_long_retry_after_is_reported_and_not_waited_for(site: Site, status: int) -> None:
    url = site.url(f"/limited/{status}?after=120")
    async with fetching() as fetcher:
        for _ in range(2):
            with pytest.raises(PageRateLimited) as caught:
                await fetcher.fetch(parse(url), Deadline.after(60))

    assert caught.value.retry_after_s == pytest.approx(120, abs=5)
    assert site.count(f"/limited/{status}") == 1


async def test_redirects_are_followed_to_the_page(site: Site) -> None:
    page = await fetch(site.url("/redirect/5"))

    assert page.body == ARTICLE.encode()
    assert page.url == site.url("/article")
    assert page.requested_url == site.url("/redirect/5")


@pytest.mark.parametrize("path", ["/redirect/6", "/loop", "/ping"])
async def test_too_many_or_circular_redirects_are_unreachable(site: Site, path: str) -> None:
    with pytest.raises(PageUnreachable) as caught:
        await fetch(site.url(path))

    assert caught.value.url == site.url(path)
    assert "redirects" in caught.value.detail


async def test_redirect_without_a_location_is_unreachable(site: Site) -> None:
    with pytest.raises(PageUnreachable):
        await fetch(site.url("/status/302"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_to_another_origin_carries_nothing_over(site: Site, status: int) -> None:
    async with running_site() as other:
        target = other.url("/echo")
        page = await fetch(site.url(f"/redirect-to?url={target}&status={status}"))

    assert page.url == target
    assert set(json.loads(page.body)) == {
        "host",
        "user-agent",
        "accept",
        "accept-language",
        "accept-encoding",
    }


@pytest.mark.parametrize(
    "target", ["http://192.168.7.7/", "http://[::1]/", "file:///etc/passwd", "ftp://example.com/"]
)
async def test_redirect_to_what_may_not_be_fetched_is_refused(site: Site, target: str) -> None:
    with pytest.raises(AddressRefused) as caught:
        await fetch(site.url(f"/redirect-to?url={target}"))

    assert caught.value.url.startswith(site.url("/redirect-to"))


async def test_long_robots_file_is_read_up_to_its_limit() -> None:
    rules = "User-agent: *\nDisallow: /article\n" + "# more\n" * 200_000
    async with running_site(robots=rules) as site:
        with pytest.raises(RobotsRefused):
            await fetch(site.url("/article"))
        assert (await fetch(site.url("/plain"))).status == 200


async def test_disallowed_page_is_not_requested() -> None:
    async with running_site(robots="User-agent: *\nDisallow: /article\n") as site:
        with pytest.raises(RobotsRefused) as caught:
            await fetch(site.url("/article"))
        assert site.count("/article") == 0
        assert (await fetch(site.url("/plain"))).status == 200
        assert (await fetch(site.url("/article"), FetchLimits(respect_robots=False))).status == 200

    assert caught.value.url == site.url("/article")


async def test_redirect_into_a_disallowed_page_is_refused() -> None:
    async with running_site(robots="User-agent: Kindly\nDisallow: /article\n") as site:
        with pytest.raises(RobotsRefused) as caught:
            await fetch(site.url("/redirect/1"))

    assert caught.value.url == site.url("/redirect/1")


async def test_second_fetch_comes_from_the_cache(site: Site) -> None:
    async with fetching() as fetcher:
        url = parse(site.url("/article"))
        first = await fetcher.fetch(url, Deadline.after(60))
        second = await fetcher.fetch(url, Deadline.after(60))
        kept = await fetcher.cached(url)
        nothing = await fetcher.cached(parse(site.url("/plain")))

    assert (str(first.how), str(second.how)) == ("http", "cache")
    assert second.body == first.body
    assert kept == second
    assert nothing is None
    assert site.count("/article") == 1


@pytest.mark.parametrize("path", ["/etag", "/last-modified"])
async def test_forced_refresh_asks_whether_the_page_changed(site: Site, path: str) -> None:
    async with fetching() as fetcher:
        url = parse(site.url(path))
        await fetcher.fetch(url, Deadline.after(60))
        page = await fetcher.fetch(url, Deadline.after(60), force_refresh=True)

    assert str(page.how) == "revalidated"
    assert page.body == ARTICLE.encode()
    assert site.count(path) == 2


async def test_fifty_pages_at_once_are_all_fetched(site: Site) -> None:
    pages: list[Page] = []
    async with fetching() as fetcher, anyio.create_task_group() as tasks:

        async def one(number: int) -> None:
            url = parse(site.url(f"/article?{number}"))
            pages.append(await fetcher.fetch(url, Deadline.after(60)))

        for number in range(50):
            tasks.start_soon(one, number)

    assert len(pages) == 50
    assert site.count("/robots.txt") == 1


def test_importing_the_stage_loads_nothing_heavy() -> None:
    heavy = ("httpx2", "httpcore2", "sqlite3", "protego", "aiolimiter", "idna", "h2")
    code = (
        "import sys; had = set(sys.modules); import kindly.fetch; "
        f"print([n for n in {heavy} if n in set(sys.modules) - had])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


async def test_blocked_page_is_not_loaded_from_the_api_of_its_source_either() -> None:
    dialler = FakeDialler()
    policy = GuardPolicy(blocked_domains=("github.com",))
    async with open_fetcher(None, policy, seams=Seams(dialler=dialler)) as fetcher:
        with pytest.raises(AddressRefused):
            await fetcher.fetch(parse("https://github.com/a/b/issues/1"), Deadline.after(60))

    assert dialler.dialled == []
