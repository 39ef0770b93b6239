"""The worker's side: messages on stdin, answers on stdout, for one driver with one browser.

Runs in its own process, without the server's environment. When stdin ends, because the server closed it or died, the
browser and this process end too.
"""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.authorities import AuthoritiesError, trust

CLOSING_S = 4.0
"""Time for the browser to end by itself."""
NICENESS = 5


class Driver(Protocol):
    """A started browser."""

    @property
    def version(self) -> str:
        """As the browser reports it."""

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        """Render one page."""

    async def gone(self) -> None:
        """Wait until the browser has ended by itself."""


class DriverFailed(Exception):
    """The browser did not start; the text says why."""


Open = Callable[[driver_protocol.Start], AbstractAsyncContextManager[Driver]]
"""Starts a browser; raises `DriverFailed` if that fails."""


def main(
    open_driver: Open,
) -> None:  # pragma: no cover - runs in its own process, which ends abruptly
    """Serve until stdin or the browser ends, with less priority than the server, which has other pages to read."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        anyio.run(serve, open_driver, sys.stdin.buffer, pipe)
    finally:
        # A thread is still blocked on stdin and would block a normal exit.
        os._exit(0)


async def serve(open_driver: Open, source: BinaryIO, pipe: int) -> None:
    """Read messages from `source` and write answers to `pipe`, until the input or the browser ends."""
    worker = _Worker(source, pipe)
    start = await worker.next_message()
    if not isinstance(start, driver_protocol.Start):
        return
    with anyio.CancelScope() as life:
        try:
            if start.ca_file:
                await anyio.to_thread.run_sync(trust, Path(start.profile_root), Path(start.ca_file))
            async with open_driver(start) as driver, anyio.create_task_group() as tasks:
                await worker.send(driver_protocol.Started(driver.version))
                tasks.start_soon(_until_gone, driver, tasks)
                await worker.run_jobs(driver, tasks)
                life.deadline = anyio.current_time() + CLOSING_S
                tasks.cancel_scope.cancel()
        except (DriverFailed, AuthoritiesError) as error:
            await worker.send(driver_protocol.StartFailed(str(error)))
    shutil.rmtree(start.profile_root, ignore_errors=True)


async def _until_gone(driver: Driver, tasks: TaskGroup) -> None:
    await driver.gone()
    tasks.cancel_scope.cancel()


class _Worker:
    """The two pipes and the running jobs."""

    def __init__(self, source: BinaryIO, pipe: int) -> None:
        self._source = source
        self._pipe = pipe
        self._sending = anyio.Lock()
        self._jobs: dict[int, anyio.CancelScope] = {}

    async def next_message(self) -> driver_protocol.Message | None:
        """The next message; None at the end of the input."""
        raw = await anyio.to_thread.run_sync(self._source.readline, abandon_on_cancel=True)
        return driver_protocol.read(raw) if raw else None

    async def send(self, message: driver_protocol.Message) -> None:
        """Send an answer."""
        async with self._sending:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_write, self._pipe, driver_protocol.line(message))

    async def run_jobs(self, driver: Driver, tasks: TaskGroup) -> None:
        """Start and cancel jobs until the input ends."""
        while (message := await self.next_message()) is not None:
            if isinstance(message, driver_protocol.Job):
                tasks.start_soon(self._render, driver, message)
            elif isinstance(message, driver_protocol.Cancel) and message.id in self._jobs:
                self._jobs[message.id].cancel()

    async def _render(self, driver: Driver, job: driver_protocol.Job) -> None:
        with anyio.CancelScope() as scope:
            self._jobs[job.id] = scope
            try:
                await self.send(await driver.render(job))
            finally:
                del self._jobs[job.id]


def _write(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]
