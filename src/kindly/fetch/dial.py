"""Dialling: a host and port in, a connection to one of its checked addresses out.

The guard decides which addresses those are, at the moment of the dial, so that no later answer of a
resolver can change them. TLS names and requests are not known here.
"""

import select
import ssl
from collections.abc import Iterable
from typing import Any, cast

import httpcore2
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream

from kindly.fetch.guard import Guard

FALL_OVER_S = 3.0
"""How long one address may take to accept while another is left to try."""


class PinnedBackend(AsyncNetworkBackend):
    """Dials the addresses that the guard checked, one after the other."""

    def __init__(self, guard: Guard, dialler: AsyncNetworkBackend) -> None:
        self._guard = guard
        self._dialler = dialler

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """A stream to the first checked address that accepts."""
        addresses = await self._guard.resolve(host, port)
        failure: Exception | None = None
        for left, address in zip(range(len(addresses) - 1, -1, -1), addresses, strict=True):
            wait_s = min(timeout or FALL_OVER_S, FALL_OVER_S) if left else timeout
            try:
                return WatchedStream(
                    await self._dialler.connect_tcp(
                        address, port, wait_s, local_address, socket_options
                    )
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise cast(Exception, failure)


class WatchedStream(AsyncNetworkStream):
    """A stream that can say at little cost whether its peer hung up.

    For every request the pool asks every idle connection; the stream below takes many times as long
    to answer.
    """

    def __init__(self, stream: AsyncNetworkStream) -> None:
        self._stream = stream
        self._socket = stream.get_extra_info("socket") if hasattr(select, "poll") else None
        if self._socket is not None:
            self._watch = select.poll()
            self._watch.register(self._socket.fileno(), select.POLLIN)

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore2's signature
        """Bytes as they come."""
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore2's signature
        """Send bytes."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
    ) -> AsyncNetworkStream:
        """The same connection under TLS."""
        return WatchedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What is known of the connection."""
        if info != "is_readable" or self._socket is None:
            return self._stream.get_extra_info(info)
        return self._socket.fileno() < 0 or bool(self._watch.poll(0))
