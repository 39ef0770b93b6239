"""The guard for clients that are not the page client: an httpx2 transport that dials checked addresses only."""

from typing import TYPE_CHECKING

import httpcore2
import httpx2

from kindly.fetch.guard.dial import PinnedBackend

if TYPE_CHECKING:
    from ssl import SSLContext

    from kindly.fetch.guard.guard import Guard


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's own transport, but for the way it dials."""

    def __init__(self, guard: "Guard", context: "SSLContext") -> None:
        super().__init__(verify=context, trust_env=False)
        # The transport has no seam for a network backend; its pool has.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context, network_backend=PinnedBackend(guard, httpcore2.AnyIOBackend())
        )
