"""Operator endpoints: `/health` (liveness), `/ready` (readiness) and `/metrics` (Prometheus).

The first two are open and reveal almost nothing; `/metrics` has the same access control as the tools.
"""

from dataclasses import dataclass

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import kindly
from kindly.app import App
from kindly.clock import Monotonic
from kindly.errors import KindlyError
from kindly.read.store import StoreStats
from kindly.server.ops.process_stats import this_process
from kindly.server.server_state import ServerState

STORE_TIMEOUT_S = 2.0
UP_TTL_S = 1.0
"""How long the result of a reachability check is reused."""
STATS_TTL_S = 15.0
"""How long the library's counts are reused."""


@dataclass(slots=True)
class LibrarySize:
    """Reachability and size of the library's store, cached for a short time."""

    server: ServerState
    clock: Monotonic = anyio.current_time
    _up: tuple[float, bool] | None = None
    _stats: tuple[float, StoreStats | None] | None = None

    async def is_up(self) -> bool:
        """Whether the store can be opened and reached."""
        if self._up is None or self.clock() - self._up[0] > UP_TTL_S:
            self._up = (self.clock(), await self._check())
        return self._up[1]

    async def stats(self) -> StoreStats | None:
        """The size of the library; None if it cannot be reached."""
        if self._stats is None or self.clock() - self._stats[0] > STATS_TTL_S:
            self._stats = (self.clock(), await self._count())
        return self._stats[1]

    async def _check(self) -> bool:
        app = self.server.current_app()
        if app is None or app.library_store is None:
            return True
        try:
            with anyio.fail_after(STORE_TIMEOUT_S):
                await (await app.library_store()).model()
        except (KindlyError, TimeoutError):
            return False
        return True

    async def _count(self) -> StoreStats | None:
        app = self.server.current_app()
        if app is None or app.library_store is None:
            return None
        try:
            with anyio.fail_after(STORE_TIMEOUT_S):
                return await (await app.library_store()).stats()
        except (KindlyError, TimeoutError):
            return None


def routes(server: ServerState, library: LibrarySize) -> list[Route]:
    """The three endpoints."""

    async def ready(_: Request) -> Response:
        reason = await unready_reason(server.current_app(), library)
        if reason:
            return JSONResponse({"status": "unavailable", "reason": reason}, 503)
        return JSONResponse({"status": "ok"})

    async def metrics(_: Request) -> Response:
        from kindly.server.ops.metrics import CONTENT_TYPE

        return Response(await metrics_text(server, library), media_type=CONTENT_TYPE)

    return [Route("/health", health), Route("/ready", ready), Route("/metrics", metrics)]


async def health(_: Request) -> Response:
    """Liveness: the process answers."""
    return JSONResponse({"status": "ok", "version": kindly.__version__})


async def unready_reason(app: App | None, library: LibrarySize) -> str:
    """Why new calls should go to another replica, in one word; empty if they should not."""
    if app is None:
        return "closed"
    if app.call_limit.is_full:
        return "full"
    return "" if await library.is_up() else "store"


async def metrics_text(server: ServerState, library: LibrarySize) -> str:
    """All metrics in the Prometheus text format."""
    from kindly.server.ops import metrics

    app = server.current_app()
    if app is None:
        return "\n"
    return metrics.exposition(
        [
            *metrics.call_metrics(app.call_stats),
            *metrics.provider_metrics(app.provider_status()),
            *metrics.library_metrics(await library.stats()),
            *metrics.process_metrics(this_process(), kindly.__version__, app.call_stats.started_at),
        ]
    )
