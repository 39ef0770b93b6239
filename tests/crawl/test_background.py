"""Crawls in the background: one for each collection, awaited for a while, ended with the server, resumed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import anyio
import pytest

from kindly.crawl.background import BackgroundCrawls
from kindly.crawl.indexer import Indexer
from kindly.errors import KindlyError, StoreUnavailable
from kindly.read.crawls.collection import Collection
from kindly.stages import Progress, ignore_progress
from tests.support.stored_pages import NOON

pytestmark = pytest.mark.anyio


@dataclass
class FakeIndexer:
    """Crawls until it is released; an error instead, if there is one."""

    failure: Exception | None = None
    runs: list[tuple[str, bool]] = field(default_factory=list)
    go: anyio.Event = field(default_factory=anyio.Event)
    cancelled: int = 0
    left: tuple[str, ...] = ()

    async def run(
        self, id_: str, progress: Progress = ignore_progress, *, refresh: bool = False
    ) -> None:
        self.runs.append((id_, refresh))
        if self.failure is not None:
            raise self.failure
        try:
            await self.go.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        await progress(1, 2, "half")

    async def unfinished(self) -> list[Collection]:
        if isinstance(self.failure, KindlyError):
            raise self.failure
        return [Collection(name, "", NOON) for name in self.left]


@asynccontextmanager
async def running(indexer: FakeIndexer) -> AsyncIterator[BackgroundCrawls]:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            crawls = BackgroundCrawls(tasks, lambda: cast("Indexer", indexer))
            yield crawls
            await crawls.aclose()


async def test_a_collection_is_crawled_once_at_a_time() -> None:
    indexer = FakeIndexer()
    async with running(indexer) as crawls:
        crawls.start("docs", refresh=True)
        crawls.start("docs")
        await anyio.wait_all_tasks_blocked()
        assert crawls.is_running("docs")
        assert indexer.runs == [("docs", True)]
        indexer.go.set()
        assert await crawls.wait("docs", 30)
        assert not crawls.is_running("docs")
        assert await crawls.wait("docs", 30)


async def test_a_call_that_waits_sees_the_progress() -> None:
    indexer, seen = FakeIndexer(), list[str]()

    async def progress(done: float, total: float, message: str) -> None:
        seen.append(message)

    async with running(indexer) as crawls:
        crawls.start("docs")
        assert not await crawls.wait("docs", 0.001, progress)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(crawls.wait, "docs", 30, progress)
            await anyio.wait_all_tasks_blocked()
            indexer.go.set()
    assert seen == ["half"]


@pytest.mark.parametrize(
    ("failure", "said"),
    [(StoreUnavailable("The disk is full."), "The disk is full."), (ValueError("x"), "unexpected")],
)
async def test_a_failure_is_kept_until_the_next_start(failure: Exception, said: str) -> None:
    indexer = FakeIndexer(failure)
    async with running(indexer) as crawls:
        crawls.start("docs")
        await crawls.wait("docs", 30)
        assert said in crawls.failures["docs"]
        indexer.failure = None
        crawls.start("docs")
        assert crawls.failures == {}


async def test_closing_ends_every_crawl() -> None:
    indexer = FakeIndexer()
    async with running(indexer) as crawls:
        for name in ("a", "b"):
            crawls.start(name)
        await anyio.wait_all_tasks_blocked()
    assert indexer.cancelled == 2
    assert not crawls.is_running("a")


async def test_interrupted_crawls_are_resumed() -> None:
    indexer = FakeIndexer(left=("a", "b"))
    async with running(indexer) as crawls:
        await crawls.resume()
        await anyio.wait_all_tasks_blocked()
        assert sorted(indexer.runs) == [("a", False), ("b", False)]


async def test_a_library_that_fails_does_not_end_the_server() -> None:
    async with running(FakeIndexer(StoreUnavailable("Down."))) as crawls:
        await crawls.resume()
        assert not crawls.failures
