"""A worker without a browser, run as `python -m tests.support.fake_driver_worker`: the URL says how it answers."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.driver_worker import Driver, DriverFailed, main


class FakeDriver:
    """Answers by the path of a URL."""

    def __init__(self, start: driver_protocol.Start) -> None:
        self.version = "fake"
        self._start = start

    async def render(
        self, job: driver_protocol.Job
    ) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
        path = job.url.rpartition("/")[2]
        if path == "hang":
            await anyio.sleep_forever()
        if path == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if path == "fail":
            return driver_protocol.RenderFailed(job.id, "navigation", job.url)
        print("a driver that talks to stdout", flush=True)  # noqa: T201 - must not reach the wire
        shown = {"environ": "|".join(os.environ), "folder": self._start.profile_root}
        return driver_protocol.Rendered(job.id, job.url, 200, shown.get(path, path))

    async def gone(self) -> None:
        await anyio.sleep_forever()


@asynccontextmanager
async def open_driver(start: driver_protocol.Start) -> AsyncIterator[Driver]:
    if start.executable != "works":
        raise DriverFailed(start.executable)
    yield FakeDriver(start)


if __name__ == "__main__":
    main(open_driver)
