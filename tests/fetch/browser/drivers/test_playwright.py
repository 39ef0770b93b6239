"""The Playwright driver in this process, on a real Chromium."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.driver_worker import Driver, DriverFailed
from kindly.fetch.browser.executables import find, this_machine
from kindly.fetch.browser.flags import FLAGS
from kindly.fetch.browser.proxy import FilteringProxy, ProxyLimits, running_proxy
from kindly.fetch.guard.guard import Guard, GuardPolicy
from tests.support.chromium import needs_chromium
from tests.support.site import Answer, Site, html, redirect, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs_chromium]

WORDS = "<p>Bees see ultraviolet light, and tell the others by a dance.</p>" * 5
PAGES = {
    "/words": html(WORDS),
    "/noisy": html(f"{WORDS}<script>alert(1); open('/words'); location = '/moved'</script>"),
    "/moved": html(f"<h1>Moved</h1>{WORDS}"),
    "/file": Answer(b"abc", headers={"Content-Disposition": "attachment"}),
    "/pdf": Answer(b"%PDF-1.4", headers={"Content-Type": "application/pdf"}),
    "/image": Answer(b"GIF89a", headers={"Content-Type": "image/gif"}),
    "/gone": Answer(b"", 410),
    "/away": redirect("http://10.0.0.1/"),
    "/long": html("<p>" + "word " * 1_000),
}


def start(proxy: str, executable: str) -> driver_protocol.Start:
    return driver_protocol.Start(executable, FLAGS, proxy, "", os.geteuid() != 0, "UA", "en-US", 20)


@asynccontextmanager
async def driver(site: Site) -> AsyncIterator[tuple[Driver, FilteringProxy]]:
    from kindly.fetch.browser.drivers.playwright import open_driver

    executable = find(this_machine(os.environ)).path
    guard = Guard(GuardPolicy(allow_private=(site.host,)))
    async with (
        running_proxy(FilteringProxy(guard, ProxyLimits())) as proxy,
        open_driver(start(proxy.server, executable)) as opened,
    ):
        yield opened, proxy


async def test_each_page_comes_out_as_it_should() -> None:
    found: dict[str, driver_protocol.Rendered | driver_protocol.RenderFailed] = {}
    with anyio.fail_after(120):
        async with running_site() as site:
            for path, answer in PAGES.items():
                site.add(path, answer)
            async with driver(site) as (opened, proxy):
                for id, path in enumerate((*PAGES, "/slow-headers")):
                    with proxy.session() as session:
                        found[path] = await opened.render(
                            driver_protocol.Job(
                                id, site.url(path), session.user, session.password, 3, 2, 3_000
                            )
                        )
            assert opened.version
    shown = {
        path: one.status for path, one in found.items() if isinstance(one, driver_protocol.Rendered)
    }
    failed = {
        path: one.problem
        for path, one in found.items()
        if isinstance(one, driver_protocol.RenderFailed)
    }
    assert shown.pop("/away", 403) == 403
    assert shown == {"/words": 200, "/noisy": 200, "/gone": 410, "/moved": 200}
    assert failed.pop("/away", "navigation") == "navigation"
    assert failed == {
        "/file": "download",
        "/pdf": "download",
        "/image": "download",
        "/long": "too_large",
        "/slow-headers": "navigation",
    }
    moved = found["/noisy"]
    assert isinstance(moved, driver_protocol.Rendered)
    assert moved.url.endswith("/moved")
    assert "<h1>Moved</h1>" in moved.html


async def test_end_of_the_browser_is_noticed() -> None:
    with anyio.fail_after(120):
        async with running_site() as site, driver(site) as (opened, proxy):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(kill_children, site)
                with proxy.session() as session:
                    answer = await opened.render(
                        driver_protocol.Job(
                            1, site.url("/slow-headers"), session.user, session.password, 9, 2, 10
                        )
                    )
            await opened.gone()
    assert isinstance(answer, driver_protocol.RenderFailed)
    assert answer.problem == "gone"


async def kill_children(site: Site) -> None:
    """Kill the Chromium that this process started, once it has asked for its page."""
    while not site.count("/slow-headers"):  # noqa: ASYNC110 - the site sets no event
        await anyio.sleep(0.02)
    for entry in Path("/proc").glob("[0-9]*"):  # noqa: ASYNC240 - no disk is behind it
        if is_chromium_of(os.getpid(), entry):
            os.kill(int(entry.name), signal.SIGKILL)


def is_chromium_of(server: int, entry: Path) -> bool:
    """Whether it is the main process of a browser whose driver this process started."""
    try:
        command = (entry / "cmdline").read_bytes()
        node = parent(entry)
        return b"--remote-debugging-pipe" in command and parent(entry.parent / str(node)) == server
    except OSError:
        return False


def parent(entry: Path) -> int:
    return int((entry / "stat").read_text().rpartition(")")[2].split()[1])


async def test_browser_that_is_none_does_not_start() -> None:
    from kindly.fetch.browser.drivers.playwright import open_driver

    with anyio.fail_after(120), pytest.raises(DriverFailed):
        async with open_driver(start("http://127.0.0.1:1", "/bin/false")):
            pass
