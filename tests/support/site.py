"""A small web for tests: pages, redirects, faulty and slow responses, served from 127.0.0.1 on a free port.

    async with running_site() as site:
        page = await fetcher.fetch(parse(site.url("/article")), deadline)
        assert site.count("/article") == 1

A route is an `Answer`, or a function from a request to one. A function that returns None has written to the stream
itself and the connection is closed after it: this makes truncated bodies, endless headers and resets.
`site.add(path, route)` adds or replaces one; `site.requests` has every request in order. A client opens the site to
itself with `GuardPolicy(allow_private=(site.host,))`.
"""

import gzip
import json
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from urllib.parse import parse_qsl

import anyio
from anyio.abc import SocketAttribute, SocketStream

HTML = "text/html; charset=utf-8"
BOMB_BYTES = 48 * 1024 * 1024
JAPANESE = "日本語の記事です"
FRENCH = "Le café à Noël"

ARTICLE = """<!doctype html><html lang="en"><head><title>How bees find flowers</title></head><body><main><article>
<h1>How bees find flowers</h1>
<p>Bees see ultraviolet light, so a flower that looks plain to us may carry bright guides for them.</p>
<p>A forager that found food tells the others by a dance whose angle points the way from the sun.</p>
</article></main></body></html>"""


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes = b""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.target.partition("?")[2]))


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; Content-Length is added."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": HTML})


Handler = Callable[[SiteRequest, SocketStream], Awaitable[Answer | None]]
Route = Answer | Handler


@dataclass(slots=True)
class Site:
    """The running site."""

    port: int
    host: str = "127.0.0.1"
    requests: list[SiteRequest] = field(default_factory=list)
    connections: int = 0
    """Open right now."""
    routes: dict[str, Route] = field(default_factory=dict)

    def url(self, path: str = "/") -> str:
        """The address of a path."""
        return f"http://{self.host}:{self.port}{path}"

    def add(self, path: str, route: Route) -> str:
        """Serve `route` at `path`; its address."""
        self.routes[path] = route
        return self.url(path)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(request.path == path for request in self.requests)

    async def answer(self, request: SiteRequest, stream: SocketStream) -> Answer | None:
        """The answer of the route for a request."""
        route = self.routes.get(request.path)
        if route is None:
            prefix = next((name for name in PREFIXES if request.path.startswith(name)), None)
            route = PREFIXES[prefix] if prefix else Answer(b"<p>No such page</p>", 404)
        return route if isinstance(route, Answer) else await route(request, stream)


@asynccontextmanager
async def running_site(robots: str | None = None, host: str = "127.0.0.1") -> AsyncIterator[Site]:
    """The site, for as long as the block runs; without `robots` it has no robots.txt."""
    async with (
        await anyio.create_tcp_listener(local_host=host, local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        port = listener.extra(SocketAttribute.local_port)
        site = Site(port, host, routes=dict(ROUTES))
        if robots is not None:
            site.add("/robots.txt", text(robots))
        tasks.start_soon(partial(listener.serve, partial(_serve, site)))
        yield site
        tasks.cancel_scope.cancel()


async def _serve(site: Site, stream: SocketStream) -> None:
    site.connections += 1
    try:
        async with stream:
            while (request := await _read(stream)) is not None:
                site.requests.append(request)
                answer = await site.answer(request, stream)
                if answer is None:
                    return
                await stream.send(_wire(answer))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return
    finally:
        site.connections -= 1


async def _read(stream: SocketStream) -> SiteRequest | None:
    received = b""
    while b"\r\n\r\n" not in received:
        try:
            received += await stream.receive()
        except anyio.EndOfStream:
            return None
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    return SiteRequest(method, target, headers, body)


def _wire(answer: Answer) -> bytes:
    headers = {**answer.headers}
    if answer.status not in {204, 304}:
        headers["Content-Length"] = str(len(answer.body))
    return head_of(answer.status, headers) + answer.body


def head_of(status: int, headers: dict[str, str]) -> bytes:
    """The first bytes of an answer, up to its body."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Status\r\n{lines}\r\n".encode()


def html(body: str, **headers: str) -> Answer:
    """An HTML page; `cache_control="no-store"` becomes that header."""
    extra = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body.encode(), headers={"Content-Type": HTML, **extra})


def text(body: str, media_type: str = "text/plain; charset=utf-8") -> Answer:
    """A text of any type."""
    return Answer(body.encode(), headers={"Content-Type": media_type})


def redirect(location: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status=status, headers={"Location": location})


def once(first: Answer, then: Answer) -> Handler:
    """One answer to the first request, another to all that follow."""
    seen: list[SiteRequest] = []

    async def answer(request: SiteRequest, stream: SocketStream) -> Answer:
        seen.append(request)
        return first if len(seen) == 1 else then

    return answer


def compressed(coding: str, body: bytes) -> bytes:
    """`body` in a content coding."""
    if coding == "br":
        import brotli  # type: ignore[import-untyped]  # has no types

        return bytes(brotli.compress(body, quality=4))
    if coding == "zstd":
        from backports import zstd

        return zstd.compress(body)
    return gzip.compress(body) if coding == "gzip" else zlib.compress(body)


@cache
def bomb(coding: str) -> bytes:
    """A few kilobytes that become `BOMB_BYTES`."""
    return compressed(coding, bytes(BOMB_BYTES))


async def _redirect_chain(request: SiteRequest, stream: SocketStream) -> Answer:
    """`/redirect/3` leads to `/article` over three redirects."""
    left = int(request.path.rpartition("/")[2])
    return redirect(f"/redirect/{left - 1}" if left > 1 else "/article")


async def _redirect_to(request: SiteRequest, stream: SocketStream) -> Answer:
    """`/redirect-to?url=…&status=…`."""
    return redirect(request.query["url"], int(request.query.get("status", "302")))


async def _status(request: SiteRequest, stream: SocketStream) -> Answer:
    """`/status/404`."""
    return Answer(b"<p>status</p>", int(request.path.rpartition("/")[2]))


async def _limited(request: SiteRequest, stream: SocketStream) -> Answer:
    """`/limited/429?after=…`: with a Retry-After."""
    status = int(request.path.rpartition("/")[2])
    return Answer(status=status, headers={"Retry-After": request.query["after"]})


async def _encoded(request: SiteRequest, stream: SocketStream) -> Answer:
    """`/encoded/br`: the article in a content coding."""
    coding = request.path.rpartition("/")[2]
    headers = {"Content-Type": HTML, "Content-Encoding": coding}
    return Answer(compressed(coding, ARTICLE.encode()), headers=headers)


async def _bomb(request: SiteRequest, stream: SocketStream) -> Answer:
    """`/bomb/br`: small on the wire, huge when unpacked."""
    coding = request.path.rpartition("/")[2]
    return Answer(bomb(coding), headers={"Content-Type": HTML, "Content-Encoding": coding})


async def _etag(request: SiteRequest, stream: SocketStream) -> Answer:
    """Current as long as the client knows its ETag."""
    if request.headers.get("if-none-match") == '"v1"':
        return Answer(status=304, headers={"ETag": '"v1"'})
    return html(ARTICLE, etag='"v1"')


async def _last_modified(request: SiteRequest, stream: SocketStream) -> Answer:
    """Current as long as the client knows its date."""
    date = "Wed, 01 Jan 2025 00:00:00 GMT"
    if request.headers.get("if-modified-since") == date:
        return Answer(status=304, headers={})
    return html(ARTICLE, last_modified=date)


async def _echo(request: SiteRequest, stream: SocketStream) -> Answer:
    """The request's headers, as JSON."""
    return text(json.dumps(request.headers), "application/json")


async def _slow_headers(request: SiteRequest, stream: SocketStream) -> None:
    """Never answers."""
    await _until_hung_up(stream)


async def _slow_drip(request: SiteRequest, stream: SocketStream) -> None:
    """Answers one byte at a time, for ever."""
    await stream.send(head_of(200, {"Content-Type": HTML, "Content-Length": "1000000"}))
    while True:
        await stream.send(b".")
        await anyio.sleep(0.01)


async def _until_hung_up(stream: SocketStream) -> None:
    with anyio.CancelScope():
        try:
            await stream.receive()
        except anyio.EndOfStream:
            return


async def _huge(request: SiteRequest, stream: SocketStream) -> None:
    """An endless page of no declared length."""
    await stream.send(head_of(200, {"Content-Type": HTML, "Connection": "close"}))
    while True:
        await stream.send(b"<p>" + b"x" * 65_000)


async def _huge_declared(request: SiteRequest, stream: SocketStream) -> None:
    """Says that a gigabyte follows."""
    await stream.send(head_of(200, {"Content-Type": HTML, "Content-Length": str(10**9)}))
    await _until_hung_up(stream)


async def _truncated(request: SiteRequest, stream: SocketStream) -> None:
    """Promises more bytes than it sends."""
    await stream.send(head_of(200, {"Content-Type": HTML, "Content-Length": "5000"}) + b"<p>half")


async def _endless_headers(request: SiteRequest, stream: SocketStream) -> None:
    """Headers without an end."""
    await stream.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await stream.send(b"X-More: " + b"x" * 1_000 + b"\r\n")


async def _garbage(request: SiteRequest, stream: SocketStream) -> None:
    """Not HTTP."""
    await stream.send(b"\x00\x01 this is not HTTP\r\n\r\n")


async def hang_up(request: SiteRequest, stream: SocketStream) -> None:
    """Resets the connection before a byte of the answer."""
    raw = stream.extra(SocketAttribute.raw_socket)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


ROUTES: dict[str, Route] = {
    "/": html("<h1>Front page</h1><p>Welcome.</p>"),
    "/article": html(ARTICLE),
    "/loop": redirect("/loop"),
    "/ping": redirect("/pong"),
    "/pong": redirect("/ping"),
    "/redirect-to": _redirect_to,
    "/slow-headers": _slow_headers,
    "/slow-drip": _slow_drip,
    "/huge": _huge,
    "/huge-declared": _huge_declared,
    "/charset/wrong": Answer(
        JAPANESE.encode(), headers={"Content-Type": "text/html; charset=iso-8859-1"}
    ),
    "/charset/latin-1": Answer(
        FRENCH.encode("latin-1"), headers={"Content-Type": "text/html; charset=ISO-8859-1"}
    ),
    "/charset/shift-jis": Answer(
        JAPANESE.encode("shift_jis"), headers={"Content-Type": 'text/html; charset="Shift_JIS"'}
    ),
    "/etag": _etag,
    "/last-modified": _last_modified,
    "/no-store": html(ARTICLE, cache_control="no-store"),
    "/no-cache": html(ARTICLE, cache_control="no-cache"),
    "/max-age-0": html(ARTICLE, cache_control="public, max-age=0"),
    "/markdown": text("# How bees find flowers\n\nThey see ultraviolet.\n", "text/markdown"),
    "/plain": text("How bees find flowers\n"),
    "/json": text('{"bees": ["see", "dance"]}', "application/json"),
    "/binary": Answer(b"\x89PNG\r\n\x1a\n\x00\x00", headers={"Content-Type": "image/png"}),
    "/untyped": Answer(b"<p>No type</p>", headers={}),
    "/echo": _echo,
    "/cookie": html("<p>cookie</p>", set_cookie="session=1; Path=/"),
    "/truncated": _truncated,
    "/endless-headers": _endless_headers,
    "/garbage": _garbage,
    "/reset": hang_up,
}
"""Paths that every site has."""

PREFIXES: dict[str, Handler] = {
    "/redirect/": _redirect_chain,
    "/status/": _status,
    "/limited/": _limited,
    "/encoded/": _encoded,
    "/bomb/": _bomb,
}
"""Families of paths that every site has."""
