"""The SSRF guard for API clients: an httpx2 transport that dials checked addresses only."""

from typing import TYPE_CHECKING

import httpcore2
import httpx2

from kindly.fetch.guard.dial import PinnedBackend

if TYPE_CHECKING:
    from ssl import SSLContext

    from kindly.fetch.guard.guard import Guard


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx2's own transport with another network backend.

    httpx2 has no public parameter for the backend, only httpcore2's pool has one, so the transport's private pool is
    replaced. If a later httpx2 keeps its connections elsewhere, nothing may be dialled without the guard.
    """

    def __init__(self, guard: "Guard", context: "SSLContext") -> None:
        super().__init__(verify=context, trust_env=False)
        if not hasattr(self, "_pool"):
            raise NotImplementedError("This version of httpx2 has no pool that can be guarded.")
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context, network_backend=PinnedBackend(guard, httpcore2.AnyIOBackend())
        )
