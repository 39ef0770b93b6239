"""The filtering proxy that all of a browser's traffic goes through: the same guard as for the HTTP client.

A request comes in with the pass of a call that is under way; its target is parsed strictly, checked, looked up and
dialled at exactly the checked address, so that no later answer of a resolver can change it. Whatever carries no valid
pass, a browser's own calls to its vendor among them, is refused. Bytes and silence are truncated. What pages are is not
known here.

Where the user's settings name a proxy, that one is dialled and given the name, as the HTTP client does it: the guard
still checks the address and whatever this machine's own look-up says; what that proxy may reach is its business.
"""

import base64
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio.abc import ByteStream, SocketAttribute

from kindly.errors import (
    AddressRefused,
    FetchError,
    InputError,
    PageTooLarge,
    PageUnreachable,
    SettingsError,
)
from kindly.fetch.browser.http1 import BadHead, Head, answer, read_head
from kindly.fetch.guard.egress import Egress, Upstream, upstream_of
from kindly.fetch.guard.guard import Guard
from kindly.urls import Url, parse

Dial = Callable[[str, int], Awaitable[ByteStream]]
"""Opens a connection to an address that the guard checked; raises OSError when it cannot."""

VENDOR_HOSTS = frozenset(
    {
        "android.clients.google.com",
        "clients2.google.com",
        "clients4.google.com",
        "componentupdater.brave.com",
        "config.edge.skype.com",
        "content-autofill.googleapis.com",
        "edge.microsoft.com",
        "edgedl.me.gvt1.com",
        "mtalk.google.com",
        "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com",
        "safebrowsing.googleapis.com",
        "update.googleapis.com",
        "variations.brave.com",
    }
)
"""Hosts that browsers call on their own account, never for what a page shows."""


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """What the browser's traffic may cost."""

    max_call_bytes: int = 50_000_000
    """Both ways, over all connections of one call."""
    max_connections: int = 128
    """At once, of one call."""
    connect_s: float = 10.0
    idle_s: float = 30.0
    """How long a connection may say nothing, either way."""


@dataclass(slots=True)
class ProxySession:
    """What lets one call's requests through, and what became of them."""

    user: str
    password: str
    left_bytes: int
    failures: dict[tuple[str, int], FetchError] = field(default_factory=dict)
    """Why a host and port could not be had, the latest reason each."""
    scopes: set[anyio.CancelScope] = field(default_factory=set)
    """One for each open connection."""

    @property
    def authorization(self) -> str:
        """The header field that proves it."""
        pair = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


async def dial_tcp(address: str, port: int) -> ByteStream:
    """A connection to an address."""
    return await anyio.connect_tcp(address, port)


class FilteringProxy:
    """Serves a browser on a loopback port, for as long as `running_proxy` is open."""

    def __init__(
        self,
        guard: Guard,
        limits: ProxyLimits,
        dial: Dial = dial_tcp,
        egress: Egress | None = None,
    ) -> None:
        self.port = 0
        self._guard = guard
        self._limits = limits
        self._dial = dial
        self._egress = egress or Egress()
        self._sessions: dict[str, ProxySession] = {}

    @property
    def server(self) -> str:
        """Its address, as a browser's settings have it."""
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def session(self) -> Iterator[ProxySession]:
        """A pass for one call; when the block ends its connections are closed and it is worth nothing."""
        session = ProxySession(
            secrets.token_hex(8), secrets.token_hex(16), self._limits.max_call_bytes
        )
        self._sessions[session.authorization] = session
        try:
            yield session
        finally:
            del self._sessions[session.authorization]
            for scope in session.scopes:
                scope.cancel()

    async def handle(self, client: ByteStream) -> None:
        """Serve one connection: one request, or one tunnel."""
        async with client:
            try:
                with anyio.fail_after(self._limits.idle_s):
                    head, rest = await read_head(client)
                await self._session(client, head, rest)
            except BadHead:
                await _say(client, 400)
            except (anyio.EndOfStream, anyio.BrokenResourceError, TimeoutError):
                return

    async def _session(self, client: ByteStream, head: Head, rest: bytes) -> None:
        session = self._sessions.get(head.header("proxy-authorization"))
        if session is None:
            await _say(client, 407, "Proxy-Authenticate: Basic realm=kindly")
            return
        if len(session.scopes) >= self._limits.max_connections:
            await _say(client, 503)
            return
        with anyio.CancelScope() as scope:
            session.scopes.add(scope)
            try:
                await self._connected(_Client(client, head, rest), session)
            finally:
                session.scopes.discard(scope)

    async def _connected(self, client: "_Client", session: ProxySession) -> None:
        url = target_of(client.head)
        try:
            way = await self._open(url)
        except FetchError as error:
            session.failures[url.host, url.port] = error
            await _say(client.stream, 403 if isinstance(error, AddressRefused) else 502)
            return
        async with way.server:
            exchange = _Exchange(client, way, session, url, self._limits.idle_s)
            await exchange.run()

    async def _open(self, url: Url) -> "_Way":
        """A connection to the first checked address that accepts, or to the proxy that is meant for it."""
        if url.host in VENDOR_HOSTS:
            raise AddressRefused(f"{url.host} is the browser's own errand.", url=str(url))
        self._guard.check(url)
        try:
            upstream = upstream_of(self._egress, url)
            if upstream is not None:
                return await self._through(upstream, url)
        except SettingsError as error:
            raise PageUnreachable(error.detail, url=str(url)) from error
        for address in await self._guard.resolve(url.host, url.port):
            with suppress(OSError, TimeoutError), anyio.fail_after(self._limits.connect_s):
                return _Way(await self._dial(address, url.port))
        raise PageUnreachable(f"{url.host} could not be connected to.", url=str(url))

    async def _through(self, upstream: Upstream, url: Url) -> "_Way":
        """A connection to a proxy, and for a tunnel through it."""
        # Behind a proxy public names often have no local answer.
        with suppress(PageUnreachable):
            await self._guard.resolve(url.host, url.port)
        server: ByteStream | None = None
        opened = False
        try:
            with anyio.fail_after(self._limits.connect_s):
                server = await self._dial(upstream.url.host, upstream.url.port)
                if upstream.url.scheme == "https":
                    server = await _secured(server, upstream.url.host, self._egress)
                status = 200 if url.scheme == "http" else await _tunnelled(server, upstream, url)
            opened = 200 <= status < 300
        except (OSError, TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError, BadHead):
            raise PageUnreachable("The proxy could not be connected to.", url=str(url)) from None
        finally:
            if server is not None and not opened:
                await anyio.aclose_forcefully(server)
        if not opened:
            raise _proxy_refused(url, status)
        return _Way(server, upstream)


@dataclass(frozen=True, slots=True)
class _Way:
    """A connection, and the proxy that is at its other end, if that is not the site itself."""

    server: ByteStream
    upstream: Upstream | None = None


@dataclass(frozen=True, slots=True)
class _Client:
    """A browser's connection: what it asked for, and what it sent after that."""

    stream: ByteStream
    head: Head
    rest: bytes


@dataclass(frozen=True, slots=True)
class _Exchange:
    """One request, or one tunnel, between a browser and a server."""

    client: _Client
    way: _Way
    session: ProxySession
    url: Url
    idle_s: float

    async def run(self) -> None:
        """Carry bytes until one side ends, falls silent, or the call has had its share."""
        method, _ = self.client.head.request
        with anyio.move_on_after(self.idle_s) as watch:
            if method == "CONNECT":
                await self._tunnel(watch)
            else:
                await self._request(watch, method)

    async def _tunnel(self, watch: anyio.CancelScope) -> None:
        await self.client.stream.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._upwards, watch, tasks.cancel_scope)
            await self._pump(self.way.server, self.client.stream, watch)
            tasks.cancel_scope.cancel()

    async def _upwards(self, watch: anyio.CancelScope, tunnel: anyio.CancelScope) -> None:
        await self._pump(self.client.stream, self.way.server, watch, self.client.rest)
        tunnel.cancel()

    async def _request(self, watch: anyio.CancelScope, method: str) -> None:
        """Send the request on, body and all, and the answer back; the connection is not used again."""
        head, rest = self.client.head, self.client.rest
        left = head.body_bytes
        fields = [("Host", self.url.netloc), ("Connection", "close")]
        upstream, target = self.way.upstream, self.url.target
        if upstream is not None:
            target = str(self.url)
            fields += _credentials(upstream)
        sent = head.passed_on(f"{method} {target} HTTP/1.1", fields) + rest[:left]
        left -= len(rest[:left])
        while await self._carry(sent, self.way.server, watch) and left:
            sent = (await self.client.stream.receive())[:left]
            left -= len(sent)
        try:
            back = await self._answer()
        except BadHead:
            await _say(self.client.stream, 502)
        else:
            await self._pump(self.way.server, self.client.stream, watch, back)

    async def _answer(self) -> bytes:
        """The first bytes of the final answer, told to be the last on its connection."""
        back, rest = await read_head(self.way.server)
        while back.status < 200:
            back, rest = await read_head(self.way.server, rest)
        if self.way.upstream is not None and back.status == 407:
            # Meant for us: a browser would take it for our own question.
            self.session.failures[self.url.host, self.url.port] = _proxy_refused(self.url, 407)
            raise BadHead
        return back.passed_on(back.first, (("Connection", "close"),)) + rest

    async def _pump(
        self, source: ByteStream, sink: ByteStream, watch: anyio.CancelScope, first: bytes = b""
    ) -> None:
        """Carry `first` and then all that comes."""
        try:
            going = await self._carry(first, sink, watch) if first else True
            while going:
                going = await self._carry(await source.receive(), sink, watch)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return

    async def _carry(self, data: bytes, sink: ByteStream, watch: anyio.CancelScope) -> bool:
        """ProxySession bytes on; false when the call has had its share."""
        self.session.left_bytes -= len(data)
        if self.session.left_bytes < 0:
            self.session.failures[self.url.host, self.url.port] = PageTooLarge(
                "The page loads more than a page may.", url=str(self.url), limit_bytes=0
            )
            return False
        await sink.send(data)
        watch.deadline = anyio.current_time() + self.idle_s
        return True


def target_of(head: Head) -> Url:
    """Where a request wants to go: `host:port` of a tunnel, or a whole http address.

    Raises:
        BadHead: it is neither, or parsers would disagree about it.
    """
    method, target = head.request
    if method == "CONNECT" and any(char in target for char in "/?#@"):
        raise BadHead
    if method != "CONNECT" and not target.startswith("http://"):
        raise BadHead
    try:
        return parse(f"https://{target}" if method == "CONNECT" else target)
    except InputError as error:
        raise BadHead from error


async def _secured(stream: ByteStream, host: str, egress: Egress) -> ByteStream:
    """The same connection under TLS."""
    from anyio.streams.tls import TLSStream

    context = await egress.tls.context()
    return await TLSStream.wrap(
        stream, server_side=False, hostname=host, ssl_context=context, standard_compatible=False
    )


async def _tunnelled(server: ByteStream, upstream: Upstream, url: Url) -> int:
    """What a proxy says when it is asked for a tunnel; nothing is sent into that before it is there."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    asked = Head("", ()).passed_on(
        f"CONNECT {host}:{url.port} HTTP/1.1",
        [("Host", f"{host}:{url.port}"), *_credentials(upstream)],
    )
    await server.send(asked)
    back, rest = await read_head(server)
    if rest and back.status < 300:
        raise BadHead
    return back.status


def _credentials(upstream: Upstream) -> list[tuple[str, str]]:
    return [("Proxy-Authorization", upstream.authorization)] if upstream.auth else []


def _proxy_refused(url: Url, status: int) -> PageUnreachable:
    why = "wants other credentials" if status == 407 else f"answered with status {status}"
    return PageUnreachable(
        f"{url.host} could not be reached: the proxy of HTTPS_PROXY or HTTP_PROXY {why}.",
        url=str(url),
    )


async def _say(client: ByteStream, status: int, *fields: str) -> None:
    with suppress(anyio.BrokenResourceError):
        await client.send(answer(status, *fields))


@asynccontextmanager
async def running_proxy(proxy: FilteringProxy) -> AsyncIterator[FilteringProxy]:
    """The proxy on a free loopback port, for as long as the block runs."""
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        proxy.port = listener.extra(SocketAttribute.local_port)
        tasks.start_soon(partial(listener.serve, proxy.handle))
        yield proxy
        tasks.cancel_scope.cancel()
