"""The HTTP client, against a small site on loopback."""

import gc
import json
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
    PageForbidden,
    PageNotFound,
    PageTooLarge,
    PageUnreachable,
)
from kindly.fetch import Fetcher, FetchLimits, GuardPolicy, Seams, open_fetcher
from kindly.models import Page
from kindly.urls import parse
from tests.support.fetch_fakes import FakeTime
from tests.support.site import (
    ARTICLE,
    FRENCH,
    JAPANESE,
    Answer,
    Site,
    SiteRequest,
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
        await fetcher.fetch(parse(site.url("/encoded/gzip")), Deadline.after(60))
        await fetcher.fetch(parse(site.url(f"/encoded/{coding}")), Deadline.after(60))
        site.add("/warm", Answer(b""))
        with pytest.raises(PageTooLarge):
            await fetcher.fetch(parse(site.url(f"/bomb/{coding}")), Deadline.after(60))
        gc.collect()
        tracemalloc.start()
        try:
            with pytest.raises(PageTooLarge) as caught:
                await fetcher.fetch(parse(site.url(f"/bomb/{coding}?again")), Deadline.after(60))
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
        ("/huge-declared", FetchLimits(), 2_000_000),
        ("/bomb/gzip", FetchLimits(), 2_000_000),
        ("/bomb/br", FetchLimits(), 2_000_000),
        ("/bomb/zstd", FetchLimits(), 2_000_000),
        ("/encoded/gzip", FetchLimits(max_wire_bytes=50), 50),
    ],
)
async def test_too_large_page_is_refused(
    site: Site, path: str, limits: FetchLimits, limit: int
) -> None:
    with pytest.raises(PageTooLarge) as caught:
        await fetch(site.url(path), limits)

    assert caught.value.limit_bytes == limit


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/huge", 2_000_000), ("/article", 100), ("/encoded/gzip", 100), ("/encoded/br", 100)],
)
async def test_too_large_text_is_cut_at_the_limit(site: Site, path: str, limit: int) -> None:
    page = await fetch(site.url(path), FetchLimits(max_bytes=limit))

    assert (len(page.body), page.cut) == (limit, True)


async def test_page_of_exactly_the_limit_is_fetched(site: Site) -> None:
    size = len(ARTICLE.encode())

    page = await fetch(site.url("/article"), FetchLimits(max_bytes=size, max_wire_bytes=size))

    assert (len(page.body), page.cut) == (size, False)


@pytest.mark.parametrize("path", ["/truncated", "/endless-headers", "/garbage", "/reset"])
async def test_broken_answer_is_unreachable(site: Site, path: str) -> None:
    with pytest.raises(PageUnreachable):
        await fetch(site.url(path), seams=Seams(clock=FakeTime().clock))


async def test_closed_port_is_unreachable(site: Site) -> None:
    async with running_site() as gone:
        url = gone.url("/")

    with pytest.raises(PageUnreachable):
        await fetch(url)


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


async def test_headers_are_those_of_a_polite_browser(site: Site) -> None:
    headers = json.loads((await fetch(site.url("/echo"))).body)

    assert headers["host"] == f"127.0.0.1:{site.port}"
    assert headers["accept"].startswith("text/markdown, text/html;q=0.9")
    assert {"gzip", "br", "zstd"} <= set(headers["accept-encoding"].split(", "))
    assert headers["user-agent"].startswith("Mozilla/5.0")
    assert headers["user-agent"].endswith(f" Kindly/{kindly.__version__}")


async def test_cookies_are_neither_stored_nor_sent(site: Site) -> None:
    async with fetching() as fetcher:
        await fetcher.fetch(parse(site.url("/cookie")), Deadline.after(60))
        page = await fetcher.fetch(parse(site.url("/echo")), Deadline.after(60))

    assert "cookie" not in json.loads(page.body)


async def test_cancelled_fetch_closes_its_connection(site: Site) -> None:
    async with fetching(FetchLimits(respect_robots=False)) as fetcher:
        async with anyio.create_task_group() as tasks:
            url = parse(site.url("/slow-headers"))
            tasks.start_soon(fetcher.fetch, url, Deadline.after(60))
            while not site.count("/slow-headers"):
                await anyio.lowlevel.checkpoint()
            assert site.connections == 1
            tasks.cancel_scope.cancel()
        while site.connections:
            await anyio.lowlevel.checkpoint()


async def test_connection_is_reused(site: Site) -> None:
    async with fetching() as fetcher:
        for path in ("/article", "/redirect/3", "/status/404", "/etag"):
            try:
                await fetcher.fetch(parse(site.url(path)), Deadline.after(60))
            except PageNotFound:
                continue
        assert site.connections == 1


@pytest.mark.parametrize(
    ("media_type", "had"),
    [("application/pdf", True), ("application/epub+zip", True), ("application/zip", False)],
)
async def test_a_file_may_be_larger_than_a_page(media_type: str, had: bool) -> None:
    async with running_site() as site:
        url = site.add("/big", Answer(bytes(3_000_000), headers={"Content-Type": media_type}))
        policy = GuardPolicy(allow_private=(site.host,))
        async with open_fetcher(FetchLimits(respect_robots=False), policy) as fetcher:
            try:
                page = await fetcher.fetch(parse(url), Deadline.after(60))
            except PageTooLarge:
                assert not had
            else:
                assert had
                assert len(page.body) == 3_000_000
