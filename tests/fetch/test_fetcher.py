"""The fetch stage as a whole, against a small web on loopback."""

import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import SocketStream

import kindly
from kindly.budget import Deadline
from kindly.errors import (
    AddressRefused,
    FetchError,
    PageForbidden,
    PageNotFound,
    PageRateLimited,
    PageTimeout,
    PageTooLarge,
    PageUnreachable,
    RobotsRefused,
)
from kindly.fetch import Fetcher, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.models import OutcomeKind, Page
from kindly.urls import parse
from tests.support.fetch_fakes import FakeDialler, FakeTime
from tests.support.site import (
    ARTICLE,
    FRENCH,
    JAPANESE,
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
    with anyio.fail_after(60):
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


@pytest.mark.parametrize(
    ("path", "media_type", "charset", "body"),
    [
        ("/markdown", "text/markdown", None, None),
        ("/plain", "text/plain", "utf-8", None),
        ("/json", "application/json", None, None),
        ("/binary", "image/png", None, None),
        ("/untyped", "", None, b"<p>No type</p>"),
        ("/charset/wrong", "text/html", "iso-8859-1", JAPANESE.encode()),
        ("/charset/latin-1", "text/html", "ISO-8859-1", FRENCH.encode("latin-1")),
        ("/charset/shift-jis", "text/html", "Shift_JIS", JAPANESE.encode("shift_jis")),
    ],
)
async def test_type_and_charset_are_as_the_server_says(
    site: Site, path: str, media_type: str, charset: str | None, body: bytes | None
) -> None:
    page = await fetch(site.url(path))

    assert (page.media_type, page.charset) == (media_type, charset)
    assert body is None or page.body == body


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate"])
async def test_compressed_page_is_unpacked(site: Site, coding: str) -> None:
    assert (await fetch(site.url(f"/encoded/{coding}"))).body == ARTICLE.encode()


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate"])
async def test_bomb_is_stopped_early_in_little_memory(site: Site, coding: str) -> None:
    async with fetching() as fetcher:
        await fetcher.fetch(parse(site.url("/encoded/gzip")), Deadline.after(10))
        await fetcher.fetch(parse(site.url(f"/encoded/{coding}")), Deadline.after(10))
        site.add("/warm", Answer(b""))
        with pytest.raises(PageTooLarge):
            await fetcher.fetch(parse(site.url(f"/bomb/{coding}")), Deadline.after(10))
        gc.collect()
        tracemalloc.start()
        try:
            with pytest.raises(PageTooLarge) as caught:
                await fetcher.fetch(parse(site.url(f"/bomb/{coding}?again")), Deadline.after(10))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert caught.value.limit_bytes == 2_000_000
    assert peak < 12_000_000


async def test_unknown_compression_is_refused(site: Site) -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "compress"}
    url = site.add("/odd", Answer(b"xyz", headers=headers))

    with pytest.raises(PageUnreachable):
        await fetch(url)


@pytest.mark.parametrize("coding", ["compress", "gzip"], ids=["unknown", "broken"])
async def test_refusal_that_cannot_be_read_is_a_refusal(site: Site, coding: str) -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": coding}
    url = site.add("/odd", Answer(b"not gzip at all", 403, headers))

    with pytest.raises(PageForbidden):
        await fetch(url)


async def test_refusal_is_read_only_at_its_beginning(site: Site) -> None:
    url = site.add("/long", Answer(b"<p>No." + b" " * 3_000_000 + b"_cf_chl_opt", 403))

    with pytest.raises(PageForbidden) as caught:
        await fetch(url)

    assert "bot check" not in caught.value.detail


async def test_broken_compression_is_unreachable(site: Site) -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    url = site.add("/odd", Answer(b"not gzip at all", headers=headers))

    with pytest.raises(PageUnreachable):
        await fetch(url)


@pytest.mark.parametrize(
    ("path", "limits", "limit"),
    [
        ("/huge", FetchLimits(), 2_000_000),
        ("/huge-declared", FetchLimits(), 2_000_000),
        ("/article", FetchLimits(max_bytes=100), 100),
        ("/encoded/gzip", FetchLimits(max_bytes=100), 100),
        ("/encoded/gzip", FetchLimits(max_wire_bytes=50), 50),
        ("/huge", FetchLimits(max_wire_bytes=1_000), 1_000),
    ],
)
async def test_too_large_page_is_refused(
    site: Site, path: str, limits: FetchLimits, limit: int
) -> None:
    with pytest.raises(PageTooLarge) as caught:
        await fetch(site.url(path), limits)

    assert caught.value.limit_bytes == limit


async def test_page_of_exactly_the_limit_is_fetched(site: Site) -> None:
    size = len(ARTICLE.encode())

    page = await fetch(site.url("/article"), FetchLimits(max_bytes=size, max_wire_bytes=size))

    assert len(page.body) == size


@pytest.mark.parametrize("path", ["/slow-headers", "/slow-drip"])
async def test_slow_page_ends_with_the_deadline(site: Site, path: str) -> None:
    with pytest.raises(PageTimeout) as caught:
        await fetch(site.url(path), seconds=0.1)

    assert caught.value.url == site.url(path)


async def test_own_timeout_ends_a_slow_page_before_the_deadline(site: Site) -> None:
    with pytest.raises(PageTimeout):
        await fetch(site.url("/slow-headers"), FetchLimits(timeout_s=0.1))


@pytest.mark.parametrize("path", ["/truncated", "/endless-headers", "/garbage", "/reset"])
async def test_broken_answer_is_unreachable(site: Site, path: str) -> None:
    with pytest.raises(PageUnreachable):
        await fetch(site.url(path), seams=Seams(clock=FakeTime().clock))


async def test_nobody_listening_is_unreachable(site: Site) -> None:
    async with running_site() as gone:
        url = gone.url("/")

    with pytest.raises(PageUnreachable):
        await fetch(url)


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
async def test_status_becomes_its_leaf(
    site: Site, status: int, leaf: type[FetchError], outcome: OutcomeKind
) -> None:
    with pytest.raises(leaf) as caught:
        await fetch(site.url(f"/status/{status}"), seams=Seams(clock=FakeTime().clock))

    assert (caught.value.status, caught.value.kind) == (status, outcome)


async def test_other_successes_are_pages(site: Site) -> None:
    assert (await fetch(site.url("/status/201"))).status == 201


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_server_error_is_tried_once_more(site: Site, status: int) -> None:
    url = site.add("/flaky", once(Answer(b"", status), html(ARTICLE)))
    time = FakeTime()

    page = await fetch(url, seams=Seams(clock=time.clock))

    assert page.body == ARTICLE.encode()
    assert site.count("/flaky") == 2
    assert time.slept == [pytest.approx(0.3)]


async def test_dropped_connection_is_tried_once_more(site: Site) -> None:
    async def drop_once(request: SiteRequest, stream: SocketStream) -> Answer | None:
        if site.count("/flaky") == 1:
            await hang_up(request, stream)
            return None
        return html(ARTICLE)

    page = await fetch(site.add("/flaky", drop_once), seams=Seams(clock=FakeTime().clock))

    assert page.body == ARTICLE.encode()
    assert site.count("/flaky") == 2


async def test_not_found_is_not_tried_again(site: Site) -> None:
    with pytest.raises(PageNotFound):
        await fetch(site.url("/nothing"))

    assert site.count("/nothing") == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_long_retry_after_is_told_and_not_waited_for(site: Site, status: int) -> None:
    url = site.url(f"/limited/{status}?after=120")
    async with fetching() as fetcher:
        for _ in range(2):
            with pytest.raises(PageRateLimited) as caught:
                await fetcher.fetch(parse(url), Deadline.after(10))

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


async def test_redirect_to_nowhere_is_unreachable(site: Site) -> None:
    with pytest.raises(PageUnreachable):
        await fetch(site.url("/status/302"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_to_another_origin_is_followed_without_a_trace(
    site: Site, status: int
) -> None:
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


async def test_odd_headers_are_read_as_latin_1(site: Site) -> None:
    async def answer(request: SiteRequest, stream: SocketStream) -> None:
        await stream.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=caf\xe9\r\n"
            b"Content-Length: 0\r\n\r\n"
        )

    assert (await fetch(site.add("/odd", answer))).charset == "café"


async def test_long_error_page_is_not_read_to_its_end(site: Site) -> None:
    url = site.add("/long", Answer(b"x" * 1_000_000, 404))

    with pytest.raises(PageNotFound):
        await fetch(url)


async def test_long_robots_file_is_read_up_to_its_cap() -> None:
    rules = "User-agent: *\nDisallow: /article\n" + "# more\n" * 200_000
    async with running_site(robots=rules) as site:
        with pytest.raises(RobotsRefused):
            await fetch(site.url("/article"))
        assert (await fetch(site.url("/plain"))).status == 200


async def test_headers_are_those_of_a_polite_browser(site: Site) -> None:
    headers = json.loads((await fetch(site.url("/echo"))).body)

    assert headers["host"] == f"127.0.0.1:{site.port}"
    assert headers["accept"].startswith("text/markdown, text/html;q=0.9")
    assert {"gzip", "br", "zstd"} <= set(headers["accept-encoding"].split(", "))
    assert headers["user-agent"].startswith("Mozilla/5.0")
    assert headers["user-agent"].endswith(f" Kindly/{kindly.__version__}")


async def test_cookies_are_neither_kept_nor_sent(site: Site) -> None:
    async with fetching() as fetcher:
        await fetcher.fetch(parse(site.url("/cookie")), Deadline.after(10))
        page = await fetcher.fetch(parse(site.url("/echo")), Deadline.after(10))

    assert "cookie" not in json.loads(page.body)


async def test_disallowed_page_is_not_asked_for() -> None:
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
        first = await fetcher.fetch(url, Deadline.after(10))
        second = await fetcher.fetch(url, Deadline.after(10))
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
        await fetcher.fetch(url, Deadline.after(10))
        page = await fetcher.fetch(url, Deadline.after(10), force_refresh=True)

    assert str(page.how) == "revalidated"
    assert page.body == ARTICLE.encode()
    assert site.count(path) == 2


async def test_fifty_pages_at_once_are_all_fetched(site: Site) -> None:
    pages: list[Page] = []
    async with fetching() as fetcher, anyio.create_task_group() as tasks:

        async def one(number: int) -> None:
            url = parse(site.url(f"/article?{number}"))
            pages.append(await fetcher.fetch(url, Deadline.after(10)))

        for number in range(50):
            tasks.start_soon(one, number)

    assert len(pages) == 50
    assert site.count("/robots.txt") == 1


async def test_cancelled_fetch_closes_its_connection(site: Site) -> None:
    async with fetching(FetchLimits(respect_robots=False)) as fetcher:
        async with anyio.create_task_group() as tasks:
            url = parse(site.url("/slow-headers"))
            tasks.start_soon(fetcher.fetch, url, Deadline.after(10))
            while not site.count("/slow-headers"):
                await anyio.lowlevel.checkpoint()
            assert site.connections == 1
            tasks.cancel_scope.cancel()
        while site.connections:
            await anyio.lowlevel.checkpoint()


async def test_connection_is_used_again(site: Site) -> None:
    async with fetching() as fetcher:
        for path in ("/article", "/redirect/3", "/status/404", "/etag"):
            try:
                await fetcher.fetch(parse(site.url(path)), Deadline.after(10))
            except PageNotFound:
                continue
        assert site.connections == 1


def test_importing_the_stage_loads_nothing_heavy() -> None:
    heavy = ("httpx2", "httpcore2", "sqlite3", "protego", "aiolimiter", "idna", "h2")
    code = (
        "import sys; had = set(sys.modules); import kindly.fetch; "
        f"print([n for n in {heavy} if n in set(sys.modules) - had])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("media_type", "had"),
    [("application/pdf", True), ("application/epub+zip", True), ("text/html", False)],
)
async def test_a_file_may_be_larger_than_a_page(media_type: str, had: bool) -> None:
    async with running_site() as site:
        url = site.add("/big", Answer(bytes(3_000_000), headers={"Content-Type": media_type}))
        policy = GuardPolicy(allow_private=(site.host,))
        async with open_fetcher(FetchLimits(respect_robots=False), policy) as fetcher:
            try:
                page = await fetcher.fetch(parse(url), Deadline.after(10))
            except PageTooLarge:
                assert not had
            else:
                assert had
                assert len(page.body) == 3_000_000


async def test_blocked_page_is_not_loaded_from_the_api_of_its_source_either() -> None:
    dialler = FakeDialler()
    policy = GuardPolicy(blocked_domains=("github.com",))
    async with open_fetcher(None, policy, seams=Seams(dialler=dialler)) as fetcher:
        with pytest.raises(AddressRefused):
            await fetcher.fetch(parse("https://github.com/a/b/issues/1"), Deadline.after(10))

    assert dialler.dialled == []
