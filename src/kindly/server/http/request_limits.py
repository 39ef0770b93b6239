"""Limits of HTTP requests: header size, body size, time to arrive, and rate.

Each limit is ASGI middleware that passes a request on or rejects it; the time limit of the head is in the protocol.
"""

import math
from collections.abc import Callable
from typing import Any

import anyio
import h11
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kindly.clock import Monotonic
from kindly.frozen import frozen
from kindly.server.http.access import ANYONE, CALLER, OPEN_PATHS
from kindly.storage.lru import LruCache

MAX_HEADERS = 100
MAX_HEADER_BYTES = 16 * 1024
MAX_HEAD_BYTES = 32 * 1024
"""A longer request head is answered 400, and the connection is closed."""
HEAD_S = 10.0
"""Time limit of a request head."""
BODY_S = 30.0
"""Time limit of a request body."""
MAX_CALLERS = 10_000


@frozen
class HeaderLimit:
    """Rejects requests with too many or too large headers (431)."""

    app: ASGIApp
    max_headers: int = MAX_HEADERS
    max_bytes: int = MAX_HEADER_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 431."""
        headers = scope.get("headers", ())
        size = sum(len(name) + len(value) for name, value in headers)
        if len(headers) <= self.max_headers and size <= self.max_bytes:
            await self.app(scope, receive, send)
            return
        refusal = PlainTextResponse("The request's headers are too large.", 431)
        await refusal(scope, receive, send)


@frozen
class BodyLimit:
    """Buffers the body; rejects one that is too large (413) or too slow (408)."""

    app: ASGIApp
    max_bytes: int
    within_s: float = BODY_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 413 or 408."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _declared(scope) > self.max_bytes:
            await self._too_large(scope, receive, send)
            return
        with anyio.move_on_after(self.within_s) as waiting:
            messages = await _whole(receive, self.max_bytes)
        if waiting.cancelled_caught:
            refusal = PlainTextResponse("The request's body did not arrive in time.", 408)
            await refusal(scope, receive, send)
        elif messages is None:
            await self._too_large(scope, receive, send)
        else:
            await self.app(scope, _replay(messages, receive), send)

    async def _too_large(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = f"The request's body is larger than {self.max_bytes} bytes."
        await PlainTextResponse(text, 413)(scope, receive, send)


def _declared(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


async def _whole(receive: Receive, max_bytes: int) -> list[Message] | None:
    """The body as one message, or the disconnect that came first; None if it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return [message]
        body += message.get("body", b"")
        if len(body) > max_bytes:
            return None
        if not message.get("more_body", False):
            return [{"type": "http.request", "body": bytes(body), "more_body": False}]


def _replay(messages: list[Message], receive: Receive) -> Receive:
    async def replay() -> Message:
        return messages.pop(0) if messages else await receive()

    return replay


class TokenBuckets:
    """Token buckets, one per caller: `per_minute` requests, which may arrive in one burst."""

    def __init__(self, per_minute: int, clock: Monotonic, *, most: int = MAX_CALLERS) -> None:
        self._capacity = float(per_minute)
        self._per_s = per_minute / 60
        self._clock = clock
        self._left: LruCache[str, tuple[float, float]] = LruCache(most)

    def take(self, name: str) -> float:
        """Seconds to wait; 0 if the request is allowed."""
        now = self._clock()
        left, at = self._left.get(name) or (self._capacity, now)
        left = min(self._capacity, left + (now - at) * self._per_s)
        allowed = left >= 1
        self._left.put(name, (left - 1 if allowed else left, now))
        return 0.0 if allowed else (1 - left) / self._per_s


class RateLimit:
    """Rate limit per caller (429)."""

    def __init__(
        self, app: ASGIApp, per_minute: int, clock: Monotonic = anyio.current_time
    ) -> None:
        self._app = app
        self._buckets = TokenBuckets(per_minute, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 429 with the seconds to wait."""
        wait_s = 0.0
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            wait_s = self._buckets.take(scope.get(CALLER, ANYONE).name)
        if not wait_s:
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "Too many requests.", 429, {"Retry-After": str(math.ceil(wait_s))}
        )
        await refusal(scope, receive, send)


class HeadTimeoutProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection if a request head does not arrive in time (slowloris)."""

    head_s: float = HEAD_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cancel_timeout: Callable[[], None] | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._update_timeout()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timeout()
        super().connection_lost(exc)

    def _update_timeout(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_timeout()
        elif self._cancel_timeout is None:
            self._cancel_timeout = self.loop.call_later(self.head_s, self._close).cancel

    def _stop_timeout(self) -> None:
        if self._cancel_timeout is not None:
            self._cancel_timeout()
            self._cancel_timeout = None

    def _close(self) -> None:
        self._cancel_timeout = None
        if not self.transport.is_closing():
            self.transport.close()
