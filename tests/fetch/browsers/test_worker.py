"""The worker's loop, spoken to through pipes."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import pytest

from kindly.fetch.browsers import wire
from kindly.fetch.browsers.worker import Driver, serve
from tests.fetch.browsers.fake_worker import FakeDriver, open_driver

pytestmark = pytest.mark.anyio


def start(executable: str, folder: str) -> wire.Start:
    return wire.Start(executable, (), "http://127.0.0.1:1", folder, True, "UA", "en-US", 5)


def job(id: int, path: str) -> wire.Job:
    return wire.Job(id, f"http://example.com/{path}", "u", "p", 5, 1, 1_000)


async def answers(*messages: wire.Message, driver: Any = open_driver) -> list[wire.Message]:
    """All that a worker says to these messages, after which its stdin ends."""
    asking, source = os.pipe()[::-1]
    answering, sink = os.pipe()
    os.write(asking, b"".join(wire.line(message) for message in messages))
    os.close(asking)
    try:
        with anyio.fail_after(60), os.fdopen(source, "rb") as lines:
            await serve(driver, lines, sink)
    finally:
        os.close(sink)
    with os.fdopen(answering, "rb") as said:
        return [wire.read(line) for line in said]


async def test_start_is_confirmed_and_the_end_of_stdin_is_the_end(tmp_path: Any) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert await answers(start("works", str(folder))) == [wire.Started("fake")]
    assert not folder.exists()


async def test_start_that_fails_is_told(tmp_path: Any) -> None:
    assert await answers(start("broken", str(tmp_path / "x"))) == [wire.StartFailed("broken")]


@pytest.mark.parametrize("messages", [(), (wire.Cancel(1),)], ids=["nothing", "out of turn"])
async def test_without_a_start_nothing_is_done(messages: tuple[wire.Message, ...]) -> None:
    assert await answers(*messages) == []


class Prompt(FakeDriver):
    """Ends once both jobs have been heard of."""

    def __init__(self, given: wire.Start) -> None:
        super().__init__(given)
        self.heard = anyio.Event()

    async def render(self, job: wire.Job) -> wire.Rendered | wire.RenderFailed:
        if job.url.endswith("last"):
            self.heard.set()
        return await super().render(job)

    async def gone(self) -> None:
        await self.heard.wait()
        await anyio.wait_all_tasks_blocked()


async def test_jobs_are_done_and_cancelled_and_the_end_of_the_browser_is_the_end(
    tmp_path: Any,
) -> None:
    @asynccontextmanager
    async def prompt(given: wire.Start) -> AsyncIterator[Driver]:
        yield Prompt(given)

    asking, answering = os.pipe(), os.pipe()
    messages = (
        start("works", str(tmp_path / "x")),
        job(1, "hang"),
        job(2, "page"),
        wire.Cancel(1),
        wire.Cancel(9),
        job(3, "last"),
    )
    os.write(asking[1], b"".join(wire.line(message) for message in messages))
    said: list[wire.Message] = []
    with os.fdopen(asking[0], "rb") as lines, os.fdopen(answering[0], "rb") as hearing:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve, prompt, lines, answering[1])
                while len(said) < 3:
                    said.append(wire.read(await anyio.to_thread.run_sync(hearing.readline)))
                os.close(asking[1])
    os.close(answering[1])
    assert said[0] == wire.Started("fake")
    assert {message.id for message in said[1:] if isinstance(message, wire.Rendered)} == {2, 3}
