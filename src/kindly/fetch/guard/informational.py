"""Limits on informational (1xx) answers: a server that sends them without end must not occupy the event loop.

The HTTP library skips them one by one, and a single read holds thousands. So they are counted in the bytes as they
arrive, before the library parses them.
"""

import re
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import httpcore2
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream

MAX_PER_RESPONSE = 20
MAX_PER_SECOND = 10
STATUS_LINE = re.compile(rb"\nHTTP/[0-9]\.[0-9] ([0-9])")
"""Of HTTP/1, behind the end of the line before; up to the first digit of the status."""
STATUS_LINE_BYTES = 11
FRAME_HEAD_BYTES = 9
HEADERS = 1
"""A frame type of HTTP/2 (RFC 9113, 6.2)."""
FINAL_HEADERS = 2
"""A response of HTTP/2 ends with a frame of headers and may have one of trailers."""


class TooManyInformational(httpcore2.RemoteProtocolError):
    """The server sent more informational answers than are accepted."""


class Allowance:
    """What one response may still send."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._count = 0
        self._latest: deque[float] = deque(maxlen=MAX_PER_SECOND)

    def spend(self) -> None:
        """Count one informational answer.

        Raises:
            TooManyInformational: there were too many for one response or within a second.
        """
        now = self._clock()
        full = len(self._latest) == MAX_PER_SECOND and now - self._latest[0] < 1.0
        if full or self._count == MAX_PER_RESPONSE:
            raise TooManyInformational("too many informational answers")
        self._count += 1
        self._latest.append(now)


class Counter(Protocol):
    """Counts the informational answers in what arrives."""

    def sent(self) -> None:
        """Something was sent to the server."""

    def received(self, data: bytes) -> None:
        """Count the answers in these bytes; raises `TooManyInformational`."""


class Http1Counter:
    """Of HTTP/1: the status lines between a request and its final answer."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.sent()

    def sent(self) -> None:
        """Another request begins; a part of one, too, starts the count again."""
        self._waiting = True
        self._tail = b"\n"
        self._allowance = Allowance(self._clock)

    def received(self, data: bytes) -> None:
        if not self._waiting:
            return
        text = self._tail + data
        for line in STATUS_LINE.finditer(text):
            if line[1] != b"1":
                self._waiting = False
                return
            self._allowance.spend()
        self._tail = text[-(STATUS_LINE_BYTES - 1) :]


class Http2Counter:
    """Of HTTP/2: the frames of headers of each stream, beyond the final ones."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._head = b""
        self._skip = 0
        self._frames: dict[int, int] = {}
        self._allowances: dict[int, Allowance] = {}

    def sent(self) -> None:
        return

    def received(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
                at += step
                continue
            step = min(FRAME_HEAD_BYTES - len(self._head), len(data) - at)
            self._head += data[at : at + step]
            at += step
            if len(self._head) == FRAME_HEAD_BYTES:
                self._frame(self._head)
                self._head = b""

    def _frame(self, head: bytes) -> None:
        self._skip = int.from_bytes(head[:3])
        if head[3] != HEADERS:
            return
        stream = int.from_bytes(head[5:])
        self._frames[stream] = self._frames.get(stream, 0) + 1
        if self._frames[stream] > FINAL_HEADERS:
            self._allowances.setdefault(stream, Allowance(self._clock)).spend()


class LimitedStream(AsyncNetworkStream):
    """A connection that ends where its server sends too many informational answers."""

    def __init__(
        self, stream: AsyncNetworkStream, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._counter: Counter = (Http2Counter if _is_http2(stream) else Http1Counter)(clock)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore2's signature
        data = await self._stream.read(max_bytes, timeout)
        self._counter.received(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore2's signature
        self._counter.sent()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
    ) -> AsyncNetworkStream:
        secure = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return LimitedStream(secure, self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class LimitedBackend(AsyncNetworkBackend):
    """Opens such connections."""

    def __init__(self, dialler: AsyncNetworkBackend) -> None:
        self._dialler = dialler

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        return LimitedStream(
            await self._dialler.connect_tcp(host, port, timeout, local_address, socket_options)
        )


def _is_http2(stream: AsyncNetworkStream) -> bool:
    secured: ssl.SSLObject | None = stream.get_extra_info("ssl_object")
    return secured is not None and secured.selected_alpn_protocol() == "h2"
