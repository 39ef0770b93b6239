"""The page cache: what is kept, for how long, and when its site is asked again."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from kindly.errors import PageNotFound
from kindly.fetch.chain.page_cache import CachedFetch, may_be_kept, must_be_checked
from kindly.fetch.chain.page_store import CachedPage, SqlitePageCache
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


async def test_fresh_page_is_not_asked_for_again() -> None:
    time, web = FakeTime(), Web(PAGE)
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        await get(page_request(time))
        time.passed_s = DAY_S - 1
        page = await get(page_request(time))

    assert page == replace(PAGE, how=How(FetchMethod.CACHE), checked_at=FakeTime().clock.now())
    assert len(web.wanted) == 1


async def test_stale_page_is_asked_for_with_its_validators() -> None:
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


async def test_changed_page_takes_the_old_one_s_place() -> None:
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


async def test_page_that_may_not_be_kept_is_not_and_takes_the_old_one_along() -> None:
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
def test_directives_decide_what_is_kept(page: Page, kept: bool, checked: bool) -> None:
    assert (may_be_kept(page), must_be_checked(page)) == (kept, checked)


async def test_calls_at_the_same_time_share_one_download() -> None:
    time, web = FakeTime(), Web(replace(PAGE, cache_control="no-store"))
    async with store(time) as cache, anyio.create_task_group() as tasks:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        for _ in range(10):
            tasks.start_soon(get, page_request(time))

    assert len(web.wanted) == 1


async def test_failure_is_not_kept() -> None:
    time, web = FakeTime(), Web(PageNotFound("no", url=URL), PAGE)
    async with store(time) as cache:
        get = CachedFetch(web, cache, DAY_S, time.clock)
        with pytest.raises(PageNotFound):
            await get(page_request(time))
        assert await get(page_request(time)) == PAGE


async def test_page_survives_in_the_file(tmp_path: Path) -> None:
    time, path = FakeTime(), str(tmp_path / "deep" / "pages.db")
    async with store(time, path) as cache:
        await cache.put(CachedPage(PAGE, START))
        await cache.touch(CachedPage(PAGE, START + timedelta(days=2)))
    async with store(time, path) as cache:
        kept = await cache.get(URL)

    assert kept == CachedPage(PAGE, START + timedelta(days=2))
    assert (await anyio.Path(path).stat()).st_mode & 0o077 == 0


async def test_two_caches_share_one_file(tmp_path: Path) -> None:
    time, path = FakeTime(), str(tmp_path / "pages.db")
    async with store(time, path) as one, store(time, path) as other:
        assert await other.get(URL) is None
        await one.put(CachedPage(PAGE, START))
        assert await other.get(URL) == CachedPage(PAGE, START)
        await other.drop(URL)
        assert await one.get(URL) is None


async def test_reads_at_the_same_moment_are_all_answered() -> None:
    time, found = FakeTime(), list[CachedPage | None]()
    async with store(time) as cache:
        for number in range(3):
            await cache.put(CachedPage(replace(PAGE, requested_url=f"{URL}{number}"), START))

        async def read(number: int) -> None:
            found.append(await cache.get(f"{URL}{number}"))

        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(read, number)

    assert sorted(kept.key for kept in found if kept) == [f"{URL}{n}" for n in range(3)]
    assert found.count(None) == 1


async def test_longest_unused_page_leaves_first() -> None:
    time = FakeTime()
    async with store(time, max_bytes=3_000) as cache:
        for number in range(3):
            time.passed_s += 100
            page = replace(PAGE, requested_url=f"{URL}{number}", body=b"x" * 600)
            await cache.put(CachedPage(page, START))
        time.passed_s += 100
        assert await cache.get(f"{URL}0") is not None
        time.passed_s += 100
        await cache.put(CachedPage(replace(PAGE, requested_url=f"{URL}3", body=b"x" * 600), START))

        left = [n for n in range(4) if await cache.get(f"{URL}{n}") is not None]

    assert left == [0, 2, 3]


async def test_page_larger_than_the_cache_is_not_kept() -> None:
    async with store(FakeTime(), max_bytes=1_000) as cache:
        await cache.put(CachedPage(replace(PAGE, body=b"x" * 2_000), START))

        assert await cache.get(URL) is None


@pytest.mark.parametrize("problem", ["corrupt", "folder", "parent-is-a-file"])
async def test_unusable_file_is_left_for_memory_with_one_warning(
    tmp_path: Path, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pages.db"
    if problem == "corrupt":
        path.write_bytes(b"this is no database" * 100)
    elif problem == "folder":
        path.mkdir()
    else:
        path.write_text("a file")
        path = path / "pages.db"

    async with store(FakeTime(), str(path)) as cache:
        assert await cache.get(URL) is None
        await cache.put(CachedPage(PAGE, START))
        assert await cache.get(URL) == CachedPage(PAGE, START)

    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert URL not in caplog.text


async def test_row_of_another_version_is_forgotten(tmp_path: Path) -> None:
    path = str(tmp_path / "pages.db")
    async with store(FakeTime(), path) as cache:
        await cache.put(CachedPage(PAGE, START))
    database = sqlite3.connect(path)
    with database:
        database.execute("""UPDATE pages_1 SET meta = '{"other": 1}'""")
    database.close()

    async with store(FakeTime(), path) as cache:
        assert await cache.get(URL) is None


async def test_page_put_twice_at_once_ends_as_the_later_one() -> None:
    later = CachedPage(replace(PAGE, body=b"later"), START)
    async with store(FakeTime()) as cache, anyio.create_task_group() as tasks:
        tasks.start_soon(cache.put, CachedPage(PAGE, START))
        await anyio.lowlevel.checkpoint()
        tasks.start_soon(cache.put, later)
        await anyio.wait_all_tasks_blocked()
        assert await cache.get(URL) == later

    assert cache._unwritten == {}


async def test_cancelled_write_is_done_at_the_end(tmp_path: Path) -> None:
    time, path = FakeTime(), str(tmp_path / "pages.db")
    async with store(time, path) as cache:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await cache.put(CachedPage(PAGE, START))
        assert await cache.get(URL) == CachedPage(PAGE, START)
    async with store(time, path) as cache:
        assert await cache.get(URL) == CachedPage(PAGE, START)


async def test_cache_that_cannot_even_use_memory_says_so() -> None:
    async with store(FakeTime()) as cache:
        await cache.get(URL)
        assert cache._file._database is not None
        cache._file._database.close()

        with pytest.raises(sqlite3.ProgrammingError):
            await cache.get(URL)
