"""A real Chromium behind the filtering proxy. The network is scripted in memory: no private address is dialled."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import AddressRefused, FetchError, PageNotFound, PageTimeout, PageUnreachable
from kindly.fetch.browser.browser_pool import BrowserPool, BrowserSeams, open_browser
from kindly.fetch.browser.browser_process import marked
from kindly.fetch.browser.launch import BrowserSettings
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.models import Page
from kindly.urls import parse
from tests.support.chromium import needs_chromium
from tests.support.fetch_fakes import PUBLIC, FakeResolver
from tests.support.paths import SHARED_DATA
from tests.support.processes import killed_after, until
from tests.support.shared_data import needs_shared, shared_lines
from tests.support.site import HTML, Answer, html, redirect, text
from tests.support.streams import ScriptedNet, Talk, scripted_net

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs_chromium]

VECTORS = SHARED_DATA / "security" / "ssrf_vectors.dev.jsonl"
CANARIES = ("http://10.0.0.1/canary", "http://127.0.0.1:8123/canary")
WORDS = "<p>Bees see ultraviolet light, and tell the others by a dance.</p>" * 5
Routes = Mapping[str, Answer | None]


def serving(routes: Routes) -> Callable[[Talk], Any]:
    """A server for `http://pub.example.com`; a route that is None never answers."""

    async def serve(talk: Talk) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await talk.receive()
        target = received.split(b" ", 2)[1].decode()
        path, _, query = target.partition("?")
        answer = routes.get(path, Answer(b"", 404))
        if path == "/r":
            answer = redirect(query.removeprefix("to="))
        if answer is None:
            await anyio.sleep_forever()
            return
        lines = {**answer.headers, "Content-Length": str(len(answer.body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await talk.send(f"HTTP/1.1 {answer.status} X\r\n{head}\r\n".encode() + answer.body)

    return serve


@dataclass
class World:
    """A pool on a real Chromium, and the network below it."""

    pool: BrowserPool
    net: ScriptedNet
    folder: Path

    async def show(self, path: str, within_s: float = 20) -> Page:
        url = parse(f"http://pub.example.com{path}")
        return await self.pool.render(url, Deadline.after(within_s))

    @property
    def browsers(self) -> list[int]:
        """Chromium's own processes, the main one first."""
        pids = sorted(marked(str(self.folder)))
        return [pid for pid in pids if b"--remote-debugging-pipe" in command(pid)]


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@asynccontextmanager
async def world(
    routes: Routes, folder: Path, settings: BrowserSettings | None = None
) -> AsyncIterator[World]:
    dns = {"pub.example.com": [[PUBLIC]], "evil.example.com": [["10.0.0.1"]]}
    guard = Guard(GuardPolicy(), FakeResolver(dns))
    environ = {**os.environ, "TMPDIR": str(folder), "SERPER_API_KEY": "very-secret"}
    with anyio.fail_after(150):
        async with scripted_net(serving(routes)) as net:
            seams = BrowserSeams(dial=net.dial)
            opened = settings or BrowserSettings(settle_s=2)
            async with open_browser(opened, guard, environ=environ, seams=seams) as pool:
                yield World(pool, net, folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    """The parent of the browser's folders; its path is short, because sockets are created below it."""
    with tempfile.TemporaryDirectory(prefix="k-") as made:
        yield Path(made)


async def test_page_that_a_script_draws_is_shown(folder: Path) -> None:
    script = (
        f"<div id=root></div><script>setTimeout(() => root.innerHTML = `{WORDS}`, 200)</script>"
    )
    async with world({"/": html(script)}, folder) as at:
        page = await at.show("/")
    assert str(page.how) == "browser"
    assert page.status == 200
    assert b"tell the others" in page.body
    assert b"<script" not in page.body


async def test_data_that_a_script_fetches_is_waited_for(folder: Path) -> None:
    script = (
        "<p>Loading…</p><script>fetch('/data').then(r => r.json())"
        ".then(d => document.body.innerHTML = `<h1>${d.title}</h1>`)</script>"
    )
    routes = {"/": html(script), "/data": text('{"title": "Bees"}', "application/json")}
    async with world(routes, folder) as at:
        page = await at.show("/")
    assert b"<h1>Bees</h1>" in page.body


async def test_redirects_and_script_navigation_are_followed(folder: Path) -> None:
    routes = {
        "/": redirect("/one"),
        "/one": html("<script>location = '/two'</script>"),
        "/two": html("<meta http-equiv=refresh content='0;url=/three'>"),
        "/three": html(WORDS),
    }
    async with world(routes, folder) as at:
        page = await at.show("/")
    assert page.url == "http://pub.example.com/three"
    assert page.requested_url == "http://pub.example.com/"


HIDDEN = """<!doctype html><style>.off { position: absolute; left: -9999px }</style><body>
<p>Seen one</p>
<p style="display:none">HIDDEN display</p><p style="visibility:hidden">HIDDEN visibility</p>
<p style="opacity:0">HIDDEN opacity</p><p style="font-size:0">HIDDEN font</p>
<div style="width:0;height:0;overflow:hidden"><p>HIDDEN box</p></div><p class=off>HIDDEN off</p>
<p style="color:#fff">HIDDEN white</p><p style="clip-path:inset(100%)">HIDDEN clip</p>
<p style="text-indent:-9999px">HIDDEN indent</p><p style="color:transparent">HIDDEN clear</p>
<div id="onetrust-consent-sdk"><p>We use cookies HIDDEN</p></div><div class="cookie-banner">HIDDEN</div>
<noscript>HIDDEN noscript</noscript><template>HIDDEN template</template><details open><p>Seen two</p></details>
<div style="background:#000"><p style="color:#fff">Seen three</p></div>
<div style="visibility:hidden">HIDDEN outer<p style="visibility:visible">Seen four</p></div>
<x-card>Seen five</x-card><script>
const shadow = document.querySelector('x-card').attachShadow({mode: 'open'});
shadow.innerHTML = '<b>Seen six</b><i style="display:none">HIDDEN shadow</i><slot></slot>';
alert('HIDDEN'); window.open('/other');
</script>"""


async def test_only_what_a_person_would_see_is_taken(folder: Path) -> None:
    async with world({"/": html(HIDDEN)}, folder) as at:
        body = (await at.show("/")).body.decode()
    assert "HIDDEN" not in body
    for number in ("one", "two", "three", "four", "five", "six"):
        assert f"Seen {number}" in body


async def test_pages_share_no_cookies_and_no_storage(folder: Path) -> None:
    script = (
        "<script>document.write(`<p>was ${document.cookie} ${localStorage.length}</p>`);"
        "document.cookie = 'a=1'; localStorage.b = 1</script>"
    )
    async with world({"/": html(script)}, folder) as at:
        for _ in range(2):
            assert b"<p>was  0</p>" in (await at.show("/")).body


@pytest.mark.parametrize(
    ("path", "leaf"),
    [
        ("/missing", PageNotFound),
        ("/file", PageUnreachable),
        ("/pdf", PageUnreachable),
        ("/private", AddressRefused),
        ("/evil", AddressRefused),
        ("/meta", AddressRefused),
    ],
)
async def test_each_failure_has_its_error(path: str, leaf: type[FetchError], folder: Path) -> None:
    routes: Routes = {
        "/file": Answer(
            b"abc", headers={"Content-Disposition": "attachment", "Content-Type": "text/plain"}
        ),
        "/pdf": Answer(b"%PDF-1.4\n", headers={"Content-Type": "application/pdf"}),
        "/private": redirect("http://10.0.0.1/"),
        "/evil": redirect("http://evil.example.com/"),
        "/meta": html("<meta http-equiv=refresh content='0;url=http://10.0.0.1/'>"),
    }
    async with world(routes, folder) as at:
        with pytest.raises(leaf) as caught:
            await at.show(path)
    assert caught.value.url == f"http://pub.example.com{path}"
    assert {address for address, _ in at.net.dialled} == {PUBLIC}


async def test_page_that_hangs_ends_with_its_deadline_and_the_next_works(folder: Path) -> None:
    routes: Routes = {"/hang": None, "/busy": html("<script>for (;;);</script>"), "/": html(WORDS)}
    async with world(routes, folder) as at:
        await at.show("/")
        for path in ("/hang", "/busy"):
            with pytest.raises((PageTimeout, PageUnreachable)):
                await at.show(path, within_s=1)
        assert (await at.show("/")).status == 200


async def test_page_that_never_falls_silent_is_shown_all_the_same(folder: Path) -> None:
    script = f"{WORDS}<script>fetch('/hang'); setInterval(() => fetch('/x'), 50)</script>"
    async with world({"/": html(script), "/hang": None, "/x": html("")}, folder) as at:
        assert b"ultraviolet" in (await at.show("/")).body


async def test_killed_browser_ends_its_page_and_the_next_one_works(folder: Path) -> None:
    routes: Routes = {"/hang": None, "/": html(WORDS)}
    async with world(routes, folder) as at:
        await at.show("/")

        async def kill() -> None:
            await until(lambda: any(b"/hang" in piece for piece in at.net.received))
            os.kill(at.browsers[0], signal.SIGKILL)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kill)
            with anyio.fail_after(120), pytest.raises(PageUnreachable):
                await at.show("/hang")
        assert (await at.show("/")).status == 200
    assert marked(str(folder)) == []


async def test_nothing_is_left_after_closing_and_no_secret_reached_the_browser(
    folder: Path,
) -> None:
    async with world({"/": html(WORDS)}, folder) as at:
        await at.show("/")
        pids = marked(str(folder))
        assert len(pids) > 2
        for pid in pids:
            assert b"very-secret" not in environment(pid)
    assert marked(str(folder)) == []
    assert left_in(folder) == []


async def test_a_browser_that_is_replaced_after_its_pages_leaves_nothing(folder: Path) -> None:
    started: set[int] = set()
    settings = BrowserSettings(settle_s=2, max_pages=2)
    async with world({"/": html(WORDS)}, folder, settings) as at:
        for _ in range(3):
            assert (await at.show("/")).status == 200
            started |= set(at.browsers[:1])
    assert len(started) > 1
    await until(lambda: marked(str(folder)) == [])
    assert left_in(folder) == []


PARENT = """
import os, sys, anyio
from kindly.budget import Deadline
from kindly.errors import FetchError
from kindly.fetch.browser.browser_pool import open_browser
from kindly.fetch.browser.launch import BrowserSettings
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.urls import parse

async def main():
    async def nowhere(host, port):
        raise OSError
    async with open_browser(BrowserSettings(), Guard(GuardPolicy(), nowhere), environ=os.environ) as pool:
        try:
            await pool.render(parse("http://pub.example.com/"), Deadline.after(60))
        except FetchError:
            print("warm", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


async def test_no_process_outlives_a_server_that_was_killed(folder: Path) -> None:
    environ = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environ
    ) as server:
        assert server.stdout is not None
        with killed_after(server):
            assert await anyio.to_thread.run_sync(server.stdout.readline) == b"warm\n"
        assert len(marked(str(folder))) > 2
        server.kill()
    await until(lambda: not marked(str(folder)))


NAVIGATES = re.compile("http-equiv=refresh|location|submit|append")
"""What leaves the page, so that nothing else on it is sure to run."""


def vectors() -> dict[str, str]:
    """Pages with the vectors: one for each that navigates, and one for all others."""
    found = (json.loads(line) for line in shared_lines(VECTORS))
    pages = {row["id"]: str(row["setup"]["html"]) for row in found if row["kind"] == "browser"}
    alone = {name: page for name, page in pages.items() if NAVIGATES.search(page)}
    together = "".join(page for name, page in pages.items() if name not in alone)
    return {**alone, "together": together}


@pytest.mark.slow
@needs_shared(VECTORS)
async def test_no_vector_reaches_a_private_address(folder: Path) -> None:
    """All rows in one browser, as in a server; each with a private and a loopback canary."""
    routes: dict[str, Answer | None] = {}
    for canary_id, canary in enumerate(CANARIES):
        for name, page in vectors().items():
            body = f"<!doctype html><body>{page.replace('{C}', canary)}"
            routes[f"/{name}/{canary_id}"] = html(body)
        worker = f"self.addEventListener('install', () => fetch('{canary}', {{mode: 'no-cors'}}))"
        routes["/sw.js"] = Answer(worker.encode(), headers={"Content-Type": "text/javascript"})
    bodies: dict[str, bytes] = {}
    async with world(routes, folder, BrowserSettings(settle_s=1)) as at:

        async def visit(path: str) -> None:
            try:
                bodies[path] = (await at.show(path, within_s=140)).body
            except FetchError:
                bodies[path] = b""

        async with anyio.create_task_group() as tasks:
            for path in [path for path in routes if path != "/sw.js"]:
                tasks.start_soon(visit, path)
    asked = b"".join(at.net.received)
    assert all(f"GET {path} ".encode() in asked for path in routes if path != "/sw.js")
    assert {address for address, _ in at.net.dialled} == {PUBLIC}
    assert not any(b"root:" in body for body in bodies.values())


async def test_pages_are_html_with_their_status(folder: Path) -> None:
    headers = {"Content-Type": HTML, "Cache-Control": "no-store"}
    async with world({"/": Answer(WORDS.encode(), 203, headers)}, folder) as at:
        page = await at.show("/")
    assert (page.status, page.media_type, page.charset) == (203, "text/html", "utf-8")
