"""Dialling: a host and port in, a connection to one of its checked addresses out.

The guard decides which addresses those are, at the moment of the dial, so that no later answer of a
resolver can change them. TLS names and requests are not known here.
"""

from collections.abc import Iterable
from typing import cast

import httpcore2
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream

from kindly.fetch.guard.guard import Guard
from kindly.fetch.guard.idle_connections import HangUps

FALL_OVER_S = 3.0
"""How long one address may take to accept while another is left to try."""


class PinnedBackend(AsyncNetworkBackend):
    """Dials the addresses that the guard checked, one after the other."""

    def __init__(self, guard: Guard, dialler: AsyncNetworkBackend) -> None:
        self._guard = guard
        self._dialler = dialler
        self._hang_ups = HangUps()

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
                return self._hang_ups.watched(
                    await self._dialler.connect_tcp(
                        address, port, wait_s, local_address, socket_options
                    )
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise cast(Exception, failure)
