"""The HTTP client: one `HopRequest` in, one `HopReply` out, over connections to exactly the addresses that the SSRF
guard checked.

Host header, SNI and certificate are those of the URL; only the dialled address is pinned. Bytes and time are limited,
no cookie is stored or sent, and the environment is not read. Redirects, robots.txt, rate limits and caching are handled
by the wrappers around it. This is the one module that knows httpx2 and httpcore2; it translates their exceptions.

With a forward proxy, the connection goes to the proxy, which resolves names itself. The guard still checks literal
addresses and what this machine's own resolver says; it cannot control what the proxy reaches beyond that.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

import anyio
import anyio.lowlevel
import httpcore2
import httpx2
from httpcore2 import AsyncNetworkBackend

from kindly.errors import FetchError, PageTooLarge, PageUnreachable
from kindly.fetch.chain import proxy_refusals
from kindly.fetch.chain.http_errors import translated
from kindly.fetch.chain.types import FetchLimits, HopReply, HopRequest
from kindly.fetch.guard.dial import PinnedBackend
from kindly.fetch.guard.egress import Egress, Upstream, upstream_of
from kindly.fetch.guard.guard import Guard
from kindly.fetch.guard.informational import LimitedBackend
from kindly.urls import Url

if TYPE_CHECKING:
    from ssl import SSLContext

ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
ACCEPT_ENCODING = "gzip, br, zstd, deflate"
JSON = "application/json"
ENCODINGS = frozenset({"gzip", "x-gzip", "br", "zstd", "deflate", "identity"})
FILE_TYPE = re.compile(
    r"\s*(?:application/(?:pdf|epub\+zip|vnd\.openxmlformats-|vnd\.ms-excel|vnd\.oasis\.)|image/(?:png|jpe?g|webp))",
    re.IGNORECASE,
)
"""Types whose bytes are mostly not text."""
TEXT_TYPE = re.compile(r"\s*(?:text/|application/xhtml\+xml)", re.IGNORECASE)
"""Types that are readable when truncated."""
DRAIN_BYTES = 64 * 1024
"""How much of an unused body is read, so that its connection can be reused."""
REFUSALS = frozenset({403, 405, 429, 503})
"""Statuses of bot checks."""
REFUSAL_BYTES = 64 * 1024
MAX_DECLARED = 50
"""A page that declares so many times the limit is refused, not truncated."""
MAX_RATIO = 200
"""Content so many times larger than what was transferred is a decompression bomb."""
HEADROOM = 1024 * 1024
"""More than one chunk, so that the limit on content stops an uncompressed body before the limit on the wire."""
MAX_CHUNKS = 50_000
"""Of a body: joining more tiny chunks than this costs too much CPU time."""
CHUNKS_PER_TURN = 100
"""Chunks that are read before other tasks get a turn."""
KEEPALIVE_S = 15.0


class HttpHop:
    """Sends requests over shared connection pools. A pool and its TLS context are opened at the first request."""

    def __init__(
        self,
        guard: Guard,
        limits: FetchLimits,
        egress: Egress | None = None,
        dialler: AsyncNetworkBackend | None = None,
    ) -> None:
        self._guard = guard
        self._limits = limits
        self._egress = egress or Egress()
        self._dialler = dialler or httpcore2.AnyIOBackend()
        self._pools: dict[Upstream | None, httpcore2.AsyncConnectionPool] = {}
        self._headers = [
            ("User-Agent", limits.user_agent),
            ("Accept", ACCEPT),
            ("Accept-Language", limits.accept_language),
            ("Accept-Encoding", ACCEPT_ENCODING),
        ]

    async def __call__(self, request: HopRequest) -> HopReply:
        """The response of one URL within the request's deadline.

        Raises:
            FetchError: a leaf with the reason if there is no response.
        """
        with translated(request.url), anyio.fail_after(request.deadline.remaining_s()):
            pool = await self._pool(request.url)
            with translated(request.url, before_answer=True):
                response = await pool.handle_async_request(self._wire_request(request))
            try:
                return await self._reply(request, response)
            finally:
                await response.aclose()

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()

    def _wire_request(self, request: HopRequest) -> httpcore2.Request:
        url = request.url
        extra = list(request.headers)
        if request.body is not None:
            extra += [("Content-Type", JSON), ("Content-Length", str(len(request.body)))]
        named = {name.lower() for name, _ in extra}
        usual = [(name, value) for name, value in self._headers if name.lower() not in named]
        headers = [("Host", url.netloc), *usual, *extra]
        connect_s = min(self._limits.connect_timeout_s, request.deadline.remaining_s())
        return httpcore2.Request(
            "GET" if request.body is None else "POST",
            httpcore2.URL(
                scheme=url.scheme.encode(),
                host=url.host.encode(),
                port=None if url.is_default_port else url.port,
                target=url.target.encode(),
            ),
            headers=[(name.encode(), _latin1(value)) for name, value in headers],
            content=request.body,
            extensions={"timeout": {"connect": connect_s}},
        )

    async def _reply(self, request: HopRequest, response: httpcore2.Response) -> HopReply:
        headers = tuple((_text(name).lower(), _text(value)) for name, value in response.headers)
        reply = HopReply(request.url, response.status, headers)
        stream = cast("AsyncIterator[bytes]", response.stream)
        proxied = upstream_of(self._egress, request.url) is not None
        if response.status in REFUSALS or (proxied and response.status in proxy_refusals.STATUSES):
            reply = replace(reply, body=await self._refusal(request, reply, response))
            return replace(reply, by_proxy=proxied and proxy_refusals.is_from_proxy(reply))
        if not 200 <= response.status < 300:
            await _drain(stream)
            return reply
        body, cut = await self._body(request, reply, response)
        return replace(reply, body=body, cut=cut)

    async def _refusal(
        self, request: HopRequest, reply: HopReply, response: httpcore2.Response
    ) -> bytes:
        """The beginning of a refusal's body; empty if it cannot be decoded."""
        with suppress(FetchError, httpx2.DecodingError):
            short = replace(request, max_bytes=REFUSAL_BYTES)
            return (await self._body(short, reply, response))[0]
        return b""

    async def _body(
        self, request: HopRequest, reply: HopReply, response: httpcore2.Response
    ) -> tuple[bytes, bool]:
        """The decoded content, and whether it was truncated; memory stays within the limit plus one decoder's chunk."""
        is_file = FILE_TYPE.match(reply.header("content-type") or "") is not None
        file_limit = self._limits.max_file_bytes if is_file else 0
        limit = request.max_bytes or max(self._limits.max_bytes, file_limit)
        wire_limit = max(self._limits.max_wire_bytes, file_limit)
        encoding = _encoding(reply)
        declared = reply.header("content-length") or ""
        cap = wire_limit if encoding else limit
        may_cut = request.max_bytes is not None or _is_text(reply)
        most = cap * MAX_DECLARED if may_cut else cap
        if request.max_bytes is None and declared.isdecimal() and int(declared) > most:
            raise _too_large(request.url, cap)
        wire = _LimitedBody(
            response, wire_limit if encoding or not may_cut else limit + HEADROOM, request.url
        )
        checks_ratio = bool(encoding) and request.max_bytes is None
        chunks: list[bytes] = []
        size = 0
        filled_at: int | None = None
        """How much was transferred when the limit was reached."""
        async with aclosing(_decoded(wire, response, encoded=bool(encoding))) as content:
            async for chunk in content:
                if size <= limit:
                    chunks.append(chunk)
                size += len(chunk)
                if size <= limit:
                    continue
                if not may_cut or (checks_ratio and size > MAX_RATIO * wire.size):
                    raise _too_large(request.url, limit)
                if not checks_ratio or filled_at not in {None, wire.size}:
                    break
                filled_at = wire.size
        return b"".join(chunks)[:limit], size > limit

    async def _pool(self, url: Url) -> httpcore2.AsyncConnectionPool:
        proxy = upstream_of(self._egress, url)
        if proxy is not None:
            # Behind a proxy, local DNS often does not resolve public names.
            with suppress(PageUnreachable):
                await self._guard.resolve(url.host, url.port)
        context = await self._egress.tls.context()
        if proxy not in self._pools:
            self._pools[proxy] = self._open_pool(proxy, context)
        return self._pools[proxy]

    def _open_pool(
        self, proxy: Upstream | None, context: "SSLContext"
    ) -> httpcore2.AsyncConnectionPool:
        """A pool that dials checked addresses, or the forward proxy if there is one."""
        backend = LimitedBackend if proxy else partial(PinnedBackend, self._guard)
        return httpcore2.AsyncConnectionPool(
            ssl_context=context,
            proxy=httpcore2.Proxy(str(proxy.url), auth=proxy.auth) if proxy else None,
            max_connections=self._limits.concurrency,
            keepalive_expiry=KEEPALIVE_S,
            http2=True,
            network_backend=backend(self._dialler),
        )


class _LimitedBody(httpx2.AsyncByteStream):
    """A response's bytes as transferred, up to a limit."""

    def __init__(self, response: httpcore2.Response, limit: int, url: Url) -> None:
        self._stream = cast("AsyncIterator[bytes]", response.stream)
        self._limit = limit
        self._url = url
        self.size = 0
        """Bytes transferred so far."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = 0
        async for chunk in self._stream:
            self.size += len(chunk)
            chunks += 1
            if self.size > self._limit:
                raise _too_large(self._url, self._limit)
            if chunks > MAX_CHUNKS:
                raise PageUnreachable(
                    f"{self._url.host} sends the page in too many tiny pieces.", url=str(self._url)
                )
            if chunks % CHUNKS_PER_TURN == 0:
                await anyio.lowlevel.checkpoint()
            yield chunk


async def _decoded(
    wire: _LimitedBody, response: httpcore2.Response, *, encoded: bool
) -> AsyncGenerator[bytes]:
    if not encoded:
        async for chunk in wire:
            yield chunk
        return
    reading = httpx2.Response(response.status, headers=response.headers, stream=wire)
    async for chunk in reading.aiter_bytes():
        yield chunk


async def _drain(stream: AsyncIterator[bytes]) -> None:
    size = 0
    async for chunk in stream:
        size += len(chunk)
        if size > DRAIN_BYTES:
            return


def _encoding(reply: HopReply) -> str:
    """The content codings, empty if there are none; one that was not requested is refused."""
    codings = [
        coding.strip().lower()
        for name, value in reply.headers
        if name == "content-encoding"
        for coding in value.split(",")
        if coding.strip()
    ]
    if not ENCODINGS.issuperset(codings):
        raise PageUnreachable(
            "The site answered with a compression that was not requested.", url=str(reply.url)
        )
    return ",".join(coding for coding in codings if coding != "identity")


def _is_text(reply: HopReply) -> bool:
    return TEXT_TYPE.match(reply.header("content-type") or "") is not None


def _too_large(url: Url, limit: int) -> PageTooLarge:
    return PageTooLarge(
        f"The page is larger than the limit of {limit} bytes.",
        url=str(url),
        limit_bytes=limit,
    )


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _latin1(text: str) -> bytes:
    return text.encode("latin-1", "ignore")
