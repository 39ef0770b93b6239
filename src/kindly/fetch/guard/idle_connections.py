"""Which idle connections their peers hung up, asked of the system for all of them at once.

For every request a pool asks each idle connection, and httpcore2's own way to answer takes a call of the system for
each; several answers within a moment come from one call here.
"""

import select
import ssl
import time
from collections.abc import Callable
from socket import socket
from typing import Any

from httpcore2 import AsyncNetworkStream

MOMENT_S = 0.001


class HangUps:
    """The connections of one pool. Where the system has no `poll`, each answers for itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._poll = select.poll() if hasattr(select, "poll") else None
        self._owners: dict[int, WatchedStream] = {}
        self._readable: frozenset[int] = frozenset()
        self._asked_at = 0.0

    def watched(self, stream: AsyncNetworkStream) -> AsyncNetworkStream:
        """The stream, which can now say at little cost whether there is anything to read."""
        connection: socket | None = stream.get_extra_info("socket")
        if self._poll is None or connection is None:
            return stream
        number = connection.fileno()
        self._poll.register(number, select.POLLIN)
        watched = self._owners[number] = WatchedStream(stream, self, connection)
        self._asked_at = 0.0
        return watched

    def has_something(self, number: int) -> bool:
        """Whether there is something to read, an end included, on the connection of this number."""
        now = self._clock()
        if self._poll is not None and now - self._asked_at > MOMENT_S:
            self._readable = frozenset(ready for ready, _ in self._poll.poll(0))
            self._asked_at = now
        return number in self._readable

    def leave(self, number: int, stream: "WatchedStream") -> None:
        """Look after it no longer, unless its number has gone to another."""
        if self._owners.get(number) is stream and self._poll is not None:
            del self._owners[number]
            self._poll.unregister(number)


class WatchedStream(AsyncNetworkStream):
    """A stream that one call of the system answers for together with others."""

    def __init__(self, stream: AsyncNetworkStream, hang_ups: HangUps, connection: socket) -> None:
        self._stream = stream
        self._hang_ups = hang_ups
        self._connection = connection
        self._number = connection.fileno()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore2's signature
        """Bytes as they come."""
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore2's signature
        """Send bytes."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        self._hang_ups.leave(self._number, self)
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
    ) -> AsyncNetworkStream:
        """The same connection under TLS."""
        return self._hang_ups.watched(
            await self._stream.start_tls(ssl_context, server_hostname, timeout)
        )

    def get_extra_info(self, info: str) -> Any:
        """What is known of the connection."""
        if info != "is_readable":
            return self._stream.get_extra_info(info)
        return self._connection.fileno() < 0 or self._hang_ups.has_something(self._number)
