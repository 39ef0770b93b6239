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

from kindly.concurrency.background_tasks import background_tasks
from kindly.fetch.chain.page_store import UNWRITTEN_BYTES, CachedPage, SqlitePageCache
from kindly.models import Page
from kindly.storage.sqlite import MEMORY
from tests.support.fetch_fakes import START, FakeTime

pytestmark = pytest.mark.anyio

URL = "https://example.com/a"

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


@asynccontextmanager
async def store(
    time: FakeTime, path: str = MEMORY, max_bytes: int = 10**6
) -> AsyncIterator[SqlitePageCache]:
    cache = SqlitePageCache(path, time.clock.now, max_bytes)
    try:
        yield cache
    finally:
        await cache.aclose()


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


async def test_least_recently_used_page_is_evicted_first() -> None:
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


async def test_page_larger_than_the_cache_is_not_stored() -> None:
    async with store(FakeTime(), max_bytes=1_000) as cache:
        await cache.put(CachedPage(replace(PAGE, body=b"x" * 2_000), START))

        assert await cache.get(URL) is None


@pytest.mark.parametrize("problem", ["corrupt", "folder", "parent-is-a-file"])
async def test_unusable_file_is_replaced_by_memory_with_one_warning(
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


async def test_row_of_another_version_is_deleted(tmp_path: Path) -> None:
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


async def test_a_page_that_is_written_later_is_there_at_once_and_after_the_end(
    tmp_path: Path,
) -> None:
    time, path = FakeTime(), str(tmp_path / "pages.db")
    async with background_tasks() as tasks, store(time, path) as other:
        cache = SqlitePageCache(path, time.clock.now, 10**6, tasks=tasks)
        await cache.put(CachedPage(PAGE, START))
        assert await cache.get(URL) == CachedPage(PAGE, START)
        await cache.aclose()
        assert await other.get(URL) == CachedPage(PAGE, START)


async def test_pages_are_written_soon_after_they_were_returned(tmp_path: Path) -> None:
    time, path = FakeTime(), str(tmp_path / "pages.db")
    async with background_tasks() as tasks, store(time, path) as other:
        cache = SqlitePageCache(path, time.clock.now, 10**6, tasks=tasks)
        await cache.put(CachedPage(PAGE, START))
        with anyio.fail_after(60):
            while await other.get(URL) is None:
                await anyio.wait_all_tasks_blocked()
        await cache.aclose()


async def test_more_than_may_be_held_is_written_at_once(tmp_path: Path) -> None:
    time, path = FakeTime(), str(tmp_path / "pages.db")
    large = replace(PAGE, body=b"x" * (UNWRITTEN_BYTES + 1))
    async with background_tasks() as tasks, store(time, path) as other:
        cache = SqlitePageCache(path, time.clock.now, 10**9, tasks=tasks)
        await cache.put(CachedPage(large, START))
        assert await other.get(URL) == CachedPage(large, START)
        await cache.aclose()
