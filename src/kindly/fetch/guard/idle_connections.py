"""Idle connections that their peers closed, found with one `poll` for all connections of a pool.

For every request, httpcore2's pool asks each idle connection whether it is readable, with one system call each. Here,
all questions within a millisecond are answered from one system call.
"""

import select
import ssl
import time
from collections.abc import Callable
from socket import socket
from typing import Any

from httpcore2 import AsyncNetworkStream

POLL_INTERVAL_S = 0.001


class IdleConnections:
    """The connections of one pool. On systems without `poll`, each connection is asked by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._poll = select.poll() if hasattr(select, "poll") else None
        self._streams: dict[int, PolledStream] = {}
        self._readable: frozenset[int] = frozenset()
        self._polled_at_s = 0.0

    def polled(self, stream: AsyncNetworkStream) -> AsyncNetworkStream:
        """The stream, with a cheap answer to whether it is readable."""
        connection: socket | None = stream.get_extra_info("socket")
        if self._poll is None or connection is None:
            return stream
        descriptor = connection.fileno()
        self._poll.register(descriptor, select.POLLIN)
        polled = self._streams[descriptor] = PolledStream(stream, self, connection)
        self._polled_at_s = 0.0
        return polled

    def is_readable(self, descriptor: int) -> bool:
        """Whether data or the end of the stream can be read from this file descriptor."""
        now = self._clock()
        if self._poll is not None and now - self._polled_at_s > POLL_INTERVAL_S:
            self._readable = frozenset(ready for ready, _ in self._poll.poll(0))
            self._polled_at_s = now
        return descriptor in self._readable

    def forget(self, descriptor: int, stream: "PolledStream") -> None:
        """Stop polling a closed stream, unless its file descriptor already belongs to another one."""
        if self._streams.get(descriptor) is stream and self._poll is not None:
            del self._streams[descriptor]
            self._poll.unregister(descriptor)


class PolledStream(AsyncNetworkStream):
    """A stream whose readability is polled together with others."""

    def __init__(
        self, stream: AsyncNetworkStream, idle: IdleConnections, connection: socket
    ) -> None:
        self._stream = stream
        self._idle = idle
        self._connection = connection
        self._descriptor = connection.fileno()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore2's signature
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore2's signature
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        self._idle.forget(self._descriptor, self)
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
    ) -> AsyncNetworkStream:
        return self._idle.polled(
            await self._stream.start_tls(ssl_context, server_hostname, timeout)
        )

    def get_extra_info(self, info: str) -> Any:
        if info != "is_readable":
            return self._stream.get_extra_info(info)
        return self._connection.fileno() < 0 or self._idle.is_readable(self._descriptor)
