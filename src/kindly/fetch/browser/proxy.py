"""The filtering proxy for all of a browser's traffic, with the same SSRF guard as the HTTP client.

Each request needs the credentials of a running call. Its target is parsed strictly, checked, resolved and dialled at
exactly the checked address, so that no later DNS answer can change it (DNS rebinding). Requests without valid
credentials, such as the browser's own calls to its vendor, are refused. Bytes and idle time are limited.

If the user's settings name a forward proxy, this proxy connects through it, as the HTTP client does. The guard still
checks the URL and what this machine's own resolver says; it cannot control what the forward proxy reaches beyond that.
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
from kindly.fetch.guard.informational import Allowance, TooManyInformational
from kindly.frozen import frozen
from kindly.urls import Url, parse

Dial = Callable[[str, int], Awaitable[ByteStream]]
"""Opens a connection to an address that the guard checked; raises OSError if that fails."""

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
"""Hosts that browsers call for their vendor, never for a page's content."""


@frozen
class ProxyLimits:
    """Limits of the browser's traffic."""

    max_call_bytes: int = 50_000_000
    """In both directions, over all connections of one call."""
    max_connections: int = 128
    """Concurrent connections of one call."""
    connect_s: float = 10.0
    idle_s: float = 30.0
    """How long a connection may transfer nothing in either direction."""


@dataclass(slots=True)
class ProxySession:
    """One call's credentials, its remaining bytes, and the failures of its requests."""

    user: str
    password: str
    left_bytes: int
    failures: dict[tuple[str, int], FetchError] = field(default_factory=dict)
    """The last failure of each host and port."""
    scopes: set[anyio.CancelScope] = field(default_factory=set)
    """One per open connection."""

    @property
    def authorization(self) -> str:
        """The value of the `Proxy-Authorization` header."""
        pair = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


async def dial_tcp(address: str, port: int) -> ByteStream:
    """Open a TCP connection."""
    return await anyio.connect_tcp(address, port)


class FilteringProxy:
    """Serves a browser on a loopback port while `running_proxy` is open."""

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
        """Credentials for one call. When the block ends, they are revoked and its connections are closed."""
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
        """Serve one connection: one request or one tunnel."""
        async with client:
            try:
                with anyio.fail_after(self._limits.idle_s):
                    head, rest = await read_head(client)
                await self._session(client, head, rest)
            except BadHead:
                await _reply(client, 400)
            except (anyio.EndOfStream, anyio.BrokenResourceError, TimeoutError):
                return

    async def _session(self, client: ByteStream, head: Head, rest: bytes) -> None:
        session = self._sessions.get(head.header("proxy-authorization"))
        if session is None:
            await _reply(client, 407, "Proxy-Authenticate: Basic realm=kindly")
            return
        if len(session.scopes) >= self._limits.max_connections:
            await _reply(client, 503)
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
            connection = await self._open(url)
        except FetchError as error:
            session.failures[url.host, url.port] = error
            await _reply(client.stream, 403 if isinstance(error, AddressRefused) else 502)
            return
        async with connection.server:
            exchange = _Exchange(client, connection, session, url, self._limits.idle_s)
            await exchange.run()

    async def _open(self, url: Url) -> "_Connection":
        """A connection to the first checked address that accepts, or to the forward proxy for this URL."""
        if url.host in VENDOR_HOSTS:
            raise AddressRefused(
                f"{url.host} belongs to the browser's vendor, not to the page.",
                url=str(url),
            )
        self._guard.check(url)
        try:
            upstream = upstream_of(self._egress, url)
            if upstream is not None:
                return await self._through(upstream, url)
        except SettingsError as error:
            raise PageUnreachable(error.detail, url=str(url)) from error
        for address in await self._guard.resolve(url.host, url.port):
            with suppress(OSError, TimeoutError), anyio.fail_after(self._limits.connect_s):
                return _Connection(await self._dial(address, url.port))
        raise PageUnreachable(f"{url.host} could not be reached.", url=str(url))

    async def _through(self, upstream: Upstream, url: Url) -> "_Connection":
        """A connection to a forward proxy; for https, a tunnel through it."""
        # Behind a proxy, local DNS often does not resolve public names.
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
            raise PageUnreachable("The proxy could not be reached.", url=str(url)) from None
        finally:
            if server is not None and not opened:
                await anyio.aclose_forcefully(server)
        if not opened:
            raise _proxy_refused(url, status)
        return _Connection(server, upstream)


@frozen
class _Connection:
    """A connection, and the forward proxy at its other end, if it is not the site itself."""

    server: ByteStream
    upstream: Upstream | None = None


@frozen
class _Client:
    """A browser's connection: the head of its request, and the bytes after that."""

    stream: ByteStream
    head: Head
    rest: bytes


@frozen
class _Exchange:
    """One request or one tunnel between a browser and a server."""

    client: _Client
    connection: _Connection
    session: ProxySession
    url: Url
    idle_s: float

    async def run(self) -> None:
        """Copy bytes until one side ends or idles, or the call's bytes are used up."""
        method, _ = self.client.head.request
        with anyio.move_on_after(self.idle_s) as idle_scope:
            if method == "CONNECT":
                await self._tunnel(idle_scope)
            else:
                await self._request(idle_scope, method)

    async def _tunnel(self, idle_scope: anyio.CancelScope) -> None:
        await self.client.stream.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pump_up, idle_scope, tasks.cancel_scope)
            await self._pump(self.connection.server, self.client.stream, idle_scope)
            tasks.cancel_scope.cancel()

    async def _pump_up(self, idle_scope: anyio.CancelScope, tunnel: anyio.CancelScope) -> None:
        await self._pump(self.client.stream, self.connection.server, idle_scope, self.client.rest)
        tunnel.cancel()

    async def _request(self, idle_scope: anyio.CancelScope, method: str) -> None:
        """Forward the request with its body, and the response; the connection is not reused."""
        head, rest = self.client.head, self.client.rest
        left = head.body_bytes
        fields = [("Host", self.url.netloc), ("Connection", "close")]
        upstream, target = self.connection.upstream, self.url.target
        if upstream is not None:
            target = str(self.url)
            fields += _credentials(upstream)
        sent = head.forwarded(f"{method} {target} HTTP/1.1", fields) + rest[:left]
        left -= len(rest[:left])
        while await self._send(sent, self.connection.server, idle_scope) and left:
            sent = (await self.client.stream.receive())[:left]
            left -= len(sent)
        try:
            back = await self._answer()
        except (BadHead, TooManyInformational):
            await _reply(self.client.stream, 502)
        else:
            await self._pump(self.connection.server, self.client.stream, idle_scope, back)

    async def _answer(self) -> bytes:
        """The first bytes of the final response, with `Connection: close`."""
        back, rest = await read_head(self.connection.server)
        allowance = Allowance(anyio.current_time)
        while back.status < 200:
            allowance.spend()
            back, rest = await read_head(self.connection.server, rest)
        if self.connection.upstream is not None and back.status == 407:
            # The forward proxy asks this proxy for credentials; the browser would send its own.
            self.session.failures[self.url.host, self.url.port] = _proxy_refused(self.url, 407)
            raise BadHead
        return back.forwarded(back.first, (("Connection", "close"),)) + rest

    async def _pump(
        self,
        source: ByteStream,
        sink: ByteStream,
        idle_scope: anyio.CancelScope,
        first: bytes = b"",
    ) -> None:
        """Copy `first`, and then everything from `source`."""
        try:
            going = await self._send(first, sink, idle_scope) if first else True
            while going:
                going = await self._send(await source.receive(), sink, idle_scope)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return

    async def _send(self, data: bytes, sink: ByteStream, idle_scope: anyio.CancelScope) -> bool:
        """Forward bytes; False if the call's bytes are used up."""
        self.session.left_bytes -= len(data)
        if self.session.left_bytes < 0:
            self.session.failures[self.url.host, self.url.port] = PageTooLarge(
                "The page loads more data than allowed.", url=str(self.url), limit_bytes=0
            )
            return False
        await sink.send(data)
        idle_scope.deadline = anyio.current_time() + self.idle_s
        return True


def target_of(head: Head) -> Url:
    """The target of a request: `host:port` of a tunnel, or an absolute http URL.

    Raises:
        BadHead: it is neither, or parsers could disagree about it.
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
    """The connection with TLS on top."""
    from anyio.streams.tls import TLSStream

    context = await egress.tls.context()
    return await TLSStream.wrap(
        stream, server_side=False, hostname=host, ssl_context=context, standard_compatible=False
    )


async def _tunnelled(server: ByteStream, upstream: Upstream, url: Url) -> int:
    """The status of a forward proxy's answer to CONNECT; nothing is sent through the tunnel before."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    connect = Head("", ()).forwarded(
        f"CONNECT {host}:{url.port} HTTP/1.1",
        [("Host", f"{host}:{url.port}"), *_credentials(upstream)],
    )
    await server.send(connect)
    back, rest = await read_head(server)
    if rest and back.status < 300:
        raise BadHead
    return back.status


def _credentials(upstream: Upstream) -> list[tuple[str, str]]:
    return [("Proxy-Authorization", upstream.authorization)] if upstream.auth else []


def _proxy_refused(url: Url, status: int) -> PageUnreachable:
    why = "does not accept the credentials" if status == 407 else f"answered with status {status}"
    return PageUnreachable(
        f"{url.host} could not be reached: the proxy of HTTPS_PROXY or HTTP_PROXY {why}.",
        url=str(url),
    )


async def _reply(client: ByteStream, status: int, *fields: str) -> None:
    with suppress(anyio.BrokenResourceError):
        await client.send(answer(status, *fields))


@asynccontextmanager
async def running_proxy(proxy: FilteringProxy) -> AsyncIterator[FilteringProxy]:
    """Run the proxy on a free loopback port during the block."""
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        proxy.port = listener.extra(SocketAttribute.local_port)
        tasks.start_soon(partial(listener.serve, proxy.handle))
        yield proxy
        tasks.cancel_scope.cancel()
