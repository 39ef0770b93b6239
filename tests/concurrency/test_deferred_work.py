"""Work after an answer: one piece at a time, each key once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest

from kindly.concurrency.background_tasks import background_tasks
from kindly.concurrency.deferred_work import DeferredWork

pytestmark = pytest.mark.anyio

PATIENCE_S = 120.0


@dataclass
class Work:
    """Ends when it is released."""

    succeeds: bool = True
    started: int = 0
    let_go: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self) -> bool:
        self.started += 1
        await self.let_go.wait()
        return self.succeeds


@asynccontextmanager
async def deferred(held_bytes: int = 100) -> AsyncIterator[DeferredWork]:
    with anyio.fail_after(PATIENCE_S):
        async with background_tasks() as tasks:
            yield DeferredWork(tasks, held_bytes)


async def test_pieces_are_done_one_after_the_other() -> None:
    first, second = Work(), Work()
    async with deferred() as later:
        assert later.start("a", 1, 10, first)
        assert later.start("b", 1, 10, second)
        await anyio.wait_all_tasks_blocked()
        assert (first.started, second.started) == (1, 0)
        first.let_go.set()
        assert await later.wait("a", PATIENCE_S)
        second.let_go.set()
        assert await later.wait("b", PATIENCE_S)


async def test_work_that_goes_on_is_not_started_again() -> None:
    work = Work()
    async with deferred() as later:
        assert later.start("a", 1, 10, work)
        assert later.start("a", 1, 10, work)
        await anyio.wait_all_tasks_blocked()
    assert work.started == 1


async def test_another_version_replaces_work_that_goes_on() -> None:
    old, new = Work(), Work()
    async with deferred() as later:
        later.start("a", 1, 10, old)
        await anyio.wait_all_tasks_blocked()
        later.start("a", 2, 10, new)
        new.let_go.set()
        assert await later.wait("a", PATIENCE_S)
    assert (old.started, new.started) == (1, 1)


async def test_work_that_failed_is_done_again_only_for_another_version() -> None:
    failing = Work(succeeds=False)
    failing.let_go.set()
    async with deferred() as later:
        assert later.start("a", 1, 10, failing)
        assert not await later.wait("a", PATIENCE_S)
        assert not later.start("a", 1, 10, failing)
        assert later.start("a", 2, 10, failing)


async def test_work_that_holds_too_much_beside_other_work_is_refused() -> None:
    async with deferred(held_bytes=100) as later:
        assert later.start("a", 1, 500, Work())
        assert not later.start("b", 1, 10, Work())


async def test_waiting_ends_with_the_time_and_without_work() -> None:
    async with deferred() as later:
        later.start("a", 1, 10, Work())
        assert not await later.wait("a", 0)
        assert not await later.wait("nothing", PATIENCE_S)


async def test_unexpected_error_is_logged_and_other_work_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> bool:
        raise RuntimeError("a bug")

    work = Work()
    work.let_go.set()
    async with deferred() as later:
        later.start("a", 1, 10, broken)
        later.start("b", 1, 10, work)
        assert await later.wait("b", PATIENCE_S)
    assert "a bug" in caplog.text


async def test_closing_gives_all_work_up() -> None:
    running, waiting = Work(), Work()
    async with deferred() as later:
        later.start("a", 1, 10, running)
        later.start("b", 1, 10, waiting)
        await anyio.wait_all_tasks_blocked()
        await later.aclose()
        assert not await later.wait("a", PATIENCE_S)
    assert waiting.started == 0
