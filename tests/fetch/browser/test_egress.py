"""The browser's traffic through a forward proxy, and with the user's certificate authorities."""

import base64
import os
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.stapled import MultiListener
from anyio.streams.tls import TLSListener

from kindly.budget import Deadline
from kindly.errors import AddressRefused, PageUnreachable
from kindly.fetch.browser.browser_pool import open_browser
from kindly.fetch.browser.browser_process import marked
from kindly.fetch.browser.http1 import BadHead, answer, read_head
from kindly.fetch.browser.launch import BrowserSettings
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.models import Page
from kindly.net.tls import Tls
from kindly.urls import parse
from tests.support.certificates import Authority, new_authority
from tests.support.chromium import missing, needs_chromium
from tests.support.fetch_fakes import FakeResolver
from tests.support.site import html, redirect, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

needs_linux = pytest.mark.skipif(
    bool(missing()) or sys.platform != "linux", reason="authorities are handed to Chromium on Linux"
)

NAME = "intranet.example.com"

CREDENTIALS = f"Basic {base64.b64encode(b'me:p@ss').decode()}"

WORDS = "<p>Bees see ultraviolet light, and tell the others by a dance.</p>" * 5

DRAWN = f"<div id=root></div><script>root.innerHTML = `{WORDS}`</script>"


@dataclass
class ForwardProxy:
    """A corporate forward proxy; every name leads to the requested port on loopback."""

    port: int
    asked: list[str] = field(default_factory=list)
    strangers: int = 0
    """Requests without the right password."""

    async def serve(self, client: ByteStream) -> None:
        async with client:
            try:
                await self._serve(client)
            except (BadHead, anyio.EndOfStream, anyio.BrokenResourceError):
                return

    async def _serve(self, client: ByteStream) -> None:
        head, rest = await read_head(client)
        if head.header("proxy-authorization") != CREDENTIALS:
            self.strangers += 1
            await client.send(answer(407, "Proxy-Authenticate: Basic realm=corp"))
            return
        self.asked.append(head.first)
        method, target = head.request
        url = parse(f"https://{target}" if method == "CONNECT" else target)
        async with await anyio.connect_tcp("127.0.0.1", url.port) as server:
            if method == "CONNECT":
                await client.send(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                first = f"{method} {url.target} HTTP/1.1"
                await server.send(head.forwarded(first, [("Connection", "close")]) + rest)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_carry, client, server, tasks.cancel_scope)
                await _carry(server, client, tasks.cancel_scope)


async def _carry(source: ByteStream, sink: ByteStream, until_done: anyio.CancelScope) -> None:
    try:
        while True:
            await sink.send(await source.receive())
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        until_done.cancel()


@asynccontextmanager
async def forward_proxy(certificate: Path | None = None) -> AsyncIterator[ForwardProxy]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as plain:
        proxy = ForwardProxy(plain.extra(SocketAttribute.local_port))
        listener = _secure(plain, certificate) if certificate else plain
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(listener.serve, proxy.serve))
            yield proxy
            tasks.cancel_scope.cancel()


def _secure(plain: "MultiListener[SocketStream]", certificate: Path) -> TLSListener:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return TLSListener(plain, context, standard_compatible=False)


@asynccontextmanager
async def secure_site(certificate: Path) -> AsyncIterator[int]:
    """A TLS site with one page; yields its port."""

    body = DRAWN.encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"

    async def serve(stream: ByteStream) -> None:
        async with stream:
            try:
                while await read_head(stream):
                    await stream.send(head.encode() + body)
            except (BadHead, anyio.EndOfStream, anyio.BrokenResourceError):
                return

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as plain,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(partial(_secure(plain, certificate).serve, serve))
        yield plain.extra(SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def shown(url: str, folder: Path, settings: BrowserSettings) -> Page:
    """One page of a host that the user opened, in a new browser."""
    guard = Guard(GuardPolicy(allow_private=(NAME,)), FakeResolver({NAME: [["127.0.0.1"]]}))
    environ = {**os.environ, "TMPDIR": str(folder)}
    with anyio.fail_after(120):
        async with open_browser(settings, guard, environ=environ) as pool:
            page = await pool.render(parse(url), Deadline.after(30))
        assert marked(str(folder)) == []
        return page


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="k-") as made:
        yield Path(made)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return new_authority("Corporate authority")


def settings(proxy: str | None = None, ca_file: Path | None = None) -> BrowserSettings:
    egress = Egress(proxy, proxy, tls=Tls(ca_file))
    return BrowserSettings(settle_s=2, egress=egress, ca_file=str(ca_file) if ca_file else None)


@needs_chromium
async def test_pages_come_through_the_upstream_proxy_and_nothing_around_it(folder: Path) -> None:
    async with forward_proxy() as proxy, running_site() as site:
        site.add("/", html(f"{DRAWN}<script src=/more.js></script>"))
        wanted = settings(f"http://me:p%40ss@127.0.0.1:{proxy.port}")
        page = await shown(f"http://{NAME}:{site.port}/", folder, wanted)
    assert b"ultraviolet" in page.body
    assert f"GET http://{NAME}:{site.port}/ HTTP/1.1" in proxy.asked
    assert f"GET http://{NAME}:{site.port}/more.js HTTP/1.1" in proxy.asked
    assert all(NAME in first for first in proxy.asked)
    assert len(site.requests) == len(proxy.asked)
    assert not any("proxy-authorization" in request.headers for request in site.requests)
    assert proxy.strangers == 0


@needs_chromium
async def test_guard_checks_before_the_upstream_proxy(folder: Path) -> None:
    script = (
        "<script>for (const at of ['http://10.0.0.1/', 'https://10.0.0.1/']) fetch(at)</script>"
    )
    async with forward_proxy() as proxy, running_site() as site:
        site.add("/", html(DRAWN + script))
        site.add("/away", redirect("http://10.0.0.1/"))
        wanted = settings(f"http://me:p%40ss@127.0.0.1:{proxy.port}")
        page = await shown(f"http://{NAME}:{site.port}/", folder, wanted)
        with pytest.raises(AddressRefused):
            await shown(f"http://{NAME}:{site.port}/away", folder, wanted)
    assert b"ultraviolet" in page.body
    assert not any("10.0.0.1" in first for first in proxy.asked)


@needs_chromium
async def test_upstream_proxy_that_refuses_the_credentials_is_reported(folder: Path) -> None:
    async with forward_proxy() as proxy:
        wanted = settings(f"http://me:wrong@127.0.0.1:{proxy.port}")
        for scheme in ("http", "https"):
            with pytest.raises(PageUnreachable, match="credentials"):
                await shown(f"{scheme}://{NAME}/", folder, wanted)
    assert proxy.asked == []


@needs_linux
async def test_site_of_the_users_authority_is_shown_through_a_proxy_under_tls(
    folder: Path, tmp_path: Path, authority: Authority
) -> None:
    """Both the proxy and the site have a certificate of the corporate authority."""
    ca_file = authority.write(tmp_path / "ca.pem")
    async with (
        forward_proxy(authority.sign("localhost", tmp_path / "proxy.pem")) as proxy,
        secure_site(authority.sign(NAME, tmp_path / "site.pem")) as port,
    ):
        wanted = settings(f"https://me:p%40ss@localhost:{proxy.port}", ca_file)
        page = await shown(f"https://{NAME}:{port}/", folder, wanted)
    assert b"ultraviolet" in page.body
    assert f"CONNECT {NAME}:{port} HTTP/1.1" in proxy.asked


@needs_linux
@pytest.mark.parametrize("given", [True, False], ids=["with SSL_CERT_FILE", "without"])
async def test_site_of_the_users_authority_is_shown_only_when_that_is_trusted(
    folder: Path, tmp_path: Path, authority: Authority, given: bool
) -> None:
    ca_file = authority.write(tmp_path / "ca.pem")
    async with secure_site(authority.sign(NAME, tmp_path / "site.pem")) as port:
        wanted = settings(ca_file=ca_file if given else None)
        url = f"https://{NAME}:{port}/"
        if given:
            assert b"ultraviolet" in (await shown(url, folder, wanted)).body
        else:
            with pytest.raises(PageUnreachable):
                await shown(url, folder, wanted)


@needs_linux
@pytest.mark.parametrize("case", ["other authority", "borrowed chain", "other name"])
async def test_certificate_that_the_users_authority_did_not_give_is_refused_all_the_same(
    folder: Path, tmp_path: Path, authority: Authority, case: str
) -> None:
    """A forged chain contains the real authority's certificate and name, but not its signature."""
    ca_file = authority.write(tmp_path / "ca.pem")
    other, rogue = new_authority("Another authority"), new_authority("Corporate authority")
    certificate = {
        "other authority": lambda path: other.sign(NAME, path),
        "borrowed chain": lambda path: rogue.sign(NAME, path, behind=authority),
        "other name": lambda path: authority.sign("other.example.com", path),
    }[case](tmp_path / "site.pem")
    async with secure_site(certificate) as port:
        with pytest.raises(PageUnreachable):
            await shown(f"https://{NAME}:{port}/", folder, settings(ca_file=ca_file))
