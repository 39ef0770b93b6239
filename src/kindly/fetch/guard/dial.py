"""Pinned dialling: a host and port in, a connection to one of its checked addresses out.

The SSRF guard resolves and checks the host at the moment of the dial, so that no later DNS answer can change the
address (DNS rebinding).
"""

from collections.abc import Iterable
from typing import cast

import httpcore2
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream

from kindly.fetch.guard.guard import Guard
from kindly.fetch.guard.idle_connections import IdleConnections
from kindly.fetch.guard.informational import LimitedStream

FALL_OVER_S = 3.0
"""Connect time-out of an address while there is another one to try."""


class PinnedBackend(AsyncNetworkBackend):
    """Dials the checked addresses of a host, one after the other."""

    def __init__(self, guard: Guard, dialler: AsyncNetworkBackend) -> None:
        self._guard = guard
        self._dialler = dialler
        self._idle = IdleConnections()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to the first checked address that accepts."""
        addresses = await self._guard.resolve(host, port)
        failure: Exception | None = None
        for left, address in zip(range(len(addresses) - 1, -1, -1), addresses, strict=True):
            wait_s = min(timeout or FALL_OVER_S, FALL_OVER_S) if left else timeout
            try:
                stream = await self._dialler.connect_tcp(
                    address, port, wait_s, local_address, socket_options
                )
                return LimitedStream(self._idle.polled(stream))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise cast(Exception, failure)
