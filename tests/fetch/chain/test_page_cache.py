from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest

from kindly.errors import PageNotFound
from kindly.fetch.chain.page_cache import CachedFetch, may_be_kept, must_be_checked
from kindly.fetch.chain.page_store import SqlitePageCache
from kindly.fetch.chain.types import PageRequest
from kindly.models import FetchMethod, How, Page
from kindly.storage.sqlite import MEMORY
from kindly.urls import parse
from tests.support.fetch_fakes import START, FakeTime

pytestmark = pytest.mark.anyio

URL = "https://example.com/a"

DAY_S = 86_400.0

PAGE = Page(
    url="https://example.com/b",
    requested_url=URL,
    status=200,
    media_type="text/html",
    body=b"<p>caf\xc3\xa9 \x00</p>",
    fetched_at=START,
    charset="utf-8",
    etag='"1"',
    last_modified="Wed, 01 Jan 2025 00:00:00 GMT",
    cache_control="private",
)


class Web:
    """Answers each download with the next page; the last one stays."""

    def __init__(self, *pages: Page | Exception) -> None:
        self.pages = pages
        self.wanted: list[PageRequest] = []

    async def __call__(self, request: PageRequest) -> Page:
        step = self.pages[min(len(self.wanted), len(self.pages) - 1)]
        self.wanted.append(request)
        await anyio.lowlevel.checkpoint()
        if isinstance(step, Exception):
            raise step
        return step


@asynccontextmanager
async def store(
    time: FakeTime, path: str = MEMORY, max_bytes: int = 10**6
) -> AsyncIterator[SqlitePageCache]:
    cache = SqlitePageCache(path, time.clock.now, max_bytes)
    try:
        yield cache
    finally:
        await cache.aclose()


def page_request(time: FakeTime, *, force: bool = False, url: str = URL) -> PageRequest:
    return PageRequest(parse(url), time.deadline(), force)


def not_modified() -> Page:
    return replace(PAGE, status=304, body=b"")


async def test_fresh_page_is_not_requested_again() -> None:
    time, web = FakeTime(), Web(PAGE)
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        time.passed_s = DAY_S - 1
        page = await get(page_request(time))

    assert page == replace(PAGE, how=How(FetchMethod.CACHE), checked_at=FakeTime().clock.now())
    assert len(web.wanted) == 1


async def test_stale_page_is_requested_with_its_validators() -> None:
    time, web = FakeTime(), Web(PAGE, not_modified())
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        time.passed_s = DAY_S
        page = await get(page_request(time))
        time.passed_s = DAY_S + DAY_S - 1
        again = await get(page_request(time))

    checked_at = FakeTime(passed_s=DAY_S).clock.now()
    assert page == replace(PAGE, how=How(FetchMethod.REVALIDATED), checked_at=checked_at)
    assert again == replace(PAGE, how=How(FetchMethod.CACHE), checked_at=checked_at)
    assert [one.known for one in web.wanted] == [None, PAGE]


async def test_changed_page_replaces_the_old_one() -> None:
    time, new = FakeTime(), replace(PAGE, body=b"new", etag='"2"')
    web = Web(PAGE, new)
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        page = await get(page_request(time, force=True))
        kept = await get.cached(URL)

    assert page == new
    assert kept == replace(new, how=How(FetchMethod.CACHE), checked_at=time.clock.now())


async def test_stale_page_without_validators_is_downloaded_anew() -> None:
    time, web = FakeTime(), Web(replace(PAGE, etag=None, last_modified=None))
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        page = await get(page_request(time, force=True))

    assert str(page.how) == "http"
    assert web.wanted[1].known is None


@pytest.mark.parametrize("directive", ["no-cache", "max-age=0", "private, max-age=0"])
async def test_page_that_must_be_checked_is_checked_each_time(directive: str) -> None:
    time, web = FakeTime(), Web(replace(PAGE, cache_control=directive), not_modified())
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        page = await get(page_request(time))

    assert str(page.how) == "revalidated"


async def test_page_that_must_not_be_stored_is_not_and_the_old_one_is_deleted() -> None:
    time, secret = FakeTime(), replace(PAGE, cache_control="no-store")
    web = Web(PAGE, secret)
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        await get(page_request(time, force=True))
        assert await get.cached(URL) is None
        await get(page_request(time))

    assert len(web.wanted) == 3


@pytest.mark.parametrize(
    ("page", "kept", "checked"),
    [
        (PAGE, True, False),
        (replace(PAGE, status=201), False, False),
        (replace(PAGE, cache_control="no-store, no-cache"), False, True),
        (replace(PAGE, cache_control="max-age=3600"), True, False),
        (replace(PAGE, cache_control="s-maxage=0"), True, False),
        (replace(PAGE, cache_control=""), True, False),
    ],
)
def test_directives_decide_what_is_stored(page: Page, kept: bool, checked: bool) -> None:
    assert (may_be_kept(page), must_be_checked(page)) == (kept, checked)


async def test_calls_at_the_same_time_share_one_download() -> None:
    time, web = FakeTime(), Web(replace(PAGE, cache_control="no-store"))
    async with store(time) as cache, anyio.create_task_group() as tasks:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        for _ in range(10):
            tasks.start_soon(get, page_request(time))

    assert len(web.wanted) == 1


async def test_failure_is_not_stored() -> None:
    time, web = FakeTime(), Web(PageNotFound("no", url=URL), PAGE)
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        with pytest.raises(PageNotFound):
            await get(page_request(time))
        assert await get(page_request(time)) == PAGE


async def test_a_page_known_from_elsewhere_is_downloaded_only_if_it_changed() -> None:
    time = FakeTime()
    async with store(time) as cache:
        web = Web(replace(PAGE, status=304), PAGE)
        fetch = CachedFetch(web, cache, DAY_S, time.clock)
        request = PageRequest(parse(URL), time.deadline(60), known=PAGE)
        assert await fetch.if_changed(request) is None
        assert await fetch.if_changed(request) == PAGE
        assert [one.known for one in web.wanted] == [PAGE, PAGE]
        assert await fetch.cached(URL) is not None
        web.pages = (replace(PAGE, status=304),)
        assert await fetch.if_changed(request) is None
