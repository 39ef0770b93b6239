"""The worker's loop, driven through pipes."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import pytest

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.driver_worker import Driver, serve
from tests.support.fake_driver_worker import FakeDriver, open_driver

pytestmark = pytest.mark.anyio


def start(executable: str, folder: str) -> driver_protocol.Start:
    return driver_protocol.Start(
        executable, (), "http://127.0.0.1:1", folder, True, "UA", "en-US", 5
    )


def job(id: int, path: str) -> driver_protocol.Job:
    return driver_protocol.Job(id, f"http://example.com/{path}", "u", "p", 5, 1, 1_000)


async def answers(
    *messages: driver_protocol.Message, driver: Any = open_driver
) -> list[driver_protocol.Message]:
    """All answers of a worker to these messages, after which its stdin ends."""
    asking, source = os.pipe()[::-1]
    answering, sink = os.pipe()
    os.write(asking, b"".join(driver_protocol.line(message) for message in messages))
    os.close(asking)
    try:
        with anyio.fail_after(120), os.fdopen(source, "rb") as lines:
            await serve(driver, lines, sink)
    finally:
        os.close(sink)
    with os.fdopen(answering, "rb") as said:
        return [driver_protocol.read(line) for line in said]


async def test_start_is_confirmed_and_the_end_of_stdin_is_the_end(tmp_path: Any) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert await answers(start("works", str(folder))) == [driver_protocol.Started("fake")]
    assert not folder.exists()


async def test_start_that_fails_is_reported(tmp_path: Any) -> None:
    assert await answers(start("broken", str(tmp_path / "x"))) == [
        driver_protocol.StartFailed("broken")
    ]


@pytest.mark.parametrize(
    "messages", [(), (driver_protocol.Cancel(1),)], ids=["nothing", "out of turn"]
)
async def test_without_a_start_nothing_is_done(
    messages: tuple[driver_protocol.Message, ...],
) -> None:
    assert await answers(*messages) == []


class Ending(FakeDriver):
    """A browser that ends when the test says so."""

    def __init__(self, given: driver_protocol.Start, ended: anyio.Event) -> None:
        super().__init__(given)
        self._ended = ended

    async def gone(self) -> None:
        await self._ended.wait()


async def test_jobs_are_done_and_cancelled_and_the_end_of_the_browser_is_the_end(
    tmp_path: Any,
) -> None:
    ended = anyio.Event()

    @asynccontextmanager
    async def ending(given: driver_protocol.Start) -> AsyncIterator[Driver]:
        yield Ending(given, ended)

    asking, answering = os.pipe(), os.pipe()
    messages = (
        start("works", str(tmp_path / "x")),
        job(1, "hang"),
        job(2, "page"),
        driver_protocol.Cancel(1),
        driver_protocol.Cancel(9),
        job(3, "last"),
    )
    os.write(asking[1], b"".join(driver_protocol.line(message) for message in messages))
    said: list[driver_protocol.Message] = []
    with os.fdopen(asking[0], "rb") as lines, os.fdopen(answering[0], "rb") as hearing:
        try:
            with anyio.fail_after(120):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(serve, ending, lines, answering[1])
                    while len(said) < 3:
                        line = await anyio.to_thread.run_sync(
                            hearing.readline, abandon_on_cancel=True
                        )
                        said.append(driver_protocol.read(line))
                    ended.set()
        finally:  # ends the threads that still read, so that their pipes can be closed
            os.close(asking[1])
            os.close(answering[1])
    assert said[0] == driver_protocol.Started("fake")
    assert {
        message.id for message in said[1:] if isinstance(message, driver_protocol.Rendered)
    } == {2, 3}
