"""Servers that are killed or stopped, browsers that hang or die, cancelled calls: no process or task is left."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.budget import Deadline
from kindly.errors import FetchError, PageTimeout, PageUnreachable
from kindly.models import Page, Screenshot
from kindly.urls import Url
from tests.support.processes import (
    INITIALIZE,
    INITIALIZED,
    PATIENCE_S,
    SCRIPT,
    RawServer,
    child_environment,
    killed_after,
    tool_call,
    until,
)
from tests.support.served_world import calling, environment
from tests.support.site import Answer, Site, SiteRequest, html
from tests.support.verbs import engine, pages

pytestmark = pytest.mark.anyio

KILLS, CALLS = 2, 100
SHELL = """<!doctype html><title>App</title><body><div id=root></div><noscript>Please enable JavaScript.</noscript>
<p>Loading the page, one moment please.</p><script src=/app.js></script></body>"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and /proc are POSIX")


def children(pid: int) -> list[int]:
    """The child processes of a process."""
    below = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in below for child in file.read_text().split()]


def is_there(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def are_gone(pids: list[int]) -> bool:
    return not any(map(is_there, pids))


@contextmanager
def raw_server(site: Site, folder: Path) -> Iterator[RawServer]:
    with RawServer(environment(site, folder, KINDLY_BROWSER="off", KINDLY_WORKERS="1")) as server:
        yield server


@posix
@pytest.mark.parametrize("doing", ["fetching", "parsing"])
async def test_a_server_told_to_stop_in_mid_call_ends_at_once_and_leaves_no_process(
    site: Site, tmp_path: Path, doing: str
) -> None:
    long_to_parse = "<a><b><i><u><s>" * 30_000 + "<p>x" * 100_000
    path = "/slow-headers" if doing == "fetching" else "/long"
    site.add("/long", html(long_to_parse))
    with anyio.fail_after(PATIENCE_S), raw_server(site, tmp_path) as server:
        await server.send(INITIALIZE, INITIALIZED)
        await server.receive()
        await server.send(tool_call(2, "get_content", {"url": site.url(path)}))
        await until(lambda: site.count(path) > 0)
        below = children(server.process.pid)
        assert below
        server.process.send_signal(signal.SIGTERM)
        await until(lambda: server.process.poll() is not None)
        await until(partial(are_gone, below))
        assert server.process.returncode == -signal.SIGTERM
        await until(lambda: site.connections == 0)


@contextmanager
def http_server(site: Site, folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """The console script over HTTP, and its port."""
    with subprocess.Popen(
        [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", "0"],
        env=child_environment(environment(site, folder, KINDLY_BROWSER="off", KINDLY_WORKERS="1")),
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stderr is not None
            with killed_after(process):
                match = re.search(rb"http://127\.0\.0\.1:(\d+)", process.stderr.readline())
            assert match is not None
            yield process, int(match[1])
        finally:
            process.kill()
            process.communicate()


@posix
async def test_a_server_over_http_told_to_stop_in_mid_call_ends_soon_and_leaves_no_process(
    site: Site, tmp_path: Path
) -> None:
    body = json.dumps(tool_call(2, "get_content", {"url": site.url("/slow-headers")})).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n"
    )
    with anyio.fail_after(PATIENCE_S), http_server(site, tmp_path) as (process, port):
        async with await anyio.connect_tcp("127.0.0.1", port) as caller:
            await caller.send(head.format(port, len(body)).encode() + body)
            await until(lambda: site.count("/slow-headers") > 0)
            below = children(process.pid)
            process.terminate()
            await until(lambda: process.poll() is not None)
            await until(partial(are_gone, below))
        assert process.returncode == -signal.SIGTERM
        await until(lambda: site.connections == 0)


@posix
@pytest.mark.parametrize("tool", ["read_page", "get_content"])
async def test_what_was_answered_is_there_after_the_server_was_killed(
    site: Site, tmp_path: Path, tool: str
) -> None:
    pages(site)
    for number in range(KILLS):
        with anyio.fail_after(PATIENCE_S), raw_server(site, tmp_path) as server:
            await server.send(INITIALIZE, INITIALIZED)
            await server.receive()
            asked = {"url": site.url(f"/p{number}")}
            if tool == "read_page":
                asked["question"] = "What do bees see?"
            await server.send(tool_call(2, tool, asked))
            assert not (await server.receive())["result"].get("isError")
            below = children(server.process.pid)
            server.process.kill()
            await until(partial(are_gone, below))
    async with engine(site, tmp_path) as at:
        assert [await at.read(f"/p{number}") for number in range(KILLS)] == ["library"] * KILLS


@dataclass
class Broken:
    """A browser that fails."""

    error: type[FetchError] | None
    """None: it never returns."""
    asked: int = 0

    async def release(self) -> None:
        """Nothing to close."""

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        raise NotImplementedError

    async def render(self, url: Url, deadline: Deadline) -> Page:
        self.asked += 1
        if self.error is None:
            with anyio.move_on_after(deadline.remaining_s()):
                await anyio.sleep_forever()
        raise (self.error or PageTimeout)("The browser is gone.", url=str(url))


@pytest.mark.parametrize("error", [PageUnreachable, None], ids=["killed", "hung"])
async def test_a_browser_that_is_killed_or_hangs_costs_only_what_it_would_have_shown(
    site: Site, tmp_path: Path, error: type[FetchError] | None
) -> None:
    site.add("/shell", html(SHELL))
    browser = Broken(error)
    with anyio.fail_after(PATIENCE_S):
        async with engine(site, tmp_path, REQUEST_TIMEOUT_MS="5000") as at:
            await at.fetch("/plain")  # starts the worker, so that the time below is the browser's
            app = replace(at.app, stages=replace(at.app.stages, renderer=browser))
            told = await replace(at, app=app).fetch("/shell")
            assert browser.asked == 1
            assert "browser is gone" not in told
            assert await replace(at, app=app).fetch("/article") == "http"


async def test_a_hundred_cancelled_calls_close_their_sockets_and_leave_no_task(
    site: Site, tmp_path: Path
) -> None:
    waiting = 0

    async def wait(_: SiteRequest, stream: SocketStream) -> Answer | None:
        nonlocal waiting
        waiting += 1
        try:
            await stream.receive()
        except anyio.EndOfStream:
            return None
        finally:
            waiting -= 1
        return html("no call comes here twice")

    urls = [site.add(f"/wait/{number}", wait) for number in range(CALLS)]
    environ = environment(
        site, tmp_path, KINDLY_BROWSER="off", KINDLY_WORKERS="1", CONCURRENCY="200"
    )
    async with calling(environ, "legacy") as caller:
        await caller.page(site.url("/article"))
        before = len(anyio.get_running_tasks())
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                for url in urls:
                    tasks.start_soon(partial(caller, "get_content", url=url))
                await until(lambda: waiting == CALLS)
                tasks.cancel_scope.cancel()
            await until(lambda: waiting == 0)
            await until(lambda: len(anyio.get_running_tasks()) <= before)
            assert (await caller.page(site.url("/article")))["status"] == "ok"
