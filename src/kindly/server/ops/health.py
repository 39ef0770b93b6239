"""For who runs the server: `/health` (it lives), `/ready` (it can take calls), `/metrics` (what it counted).

The first two are open to everybody and say next to nothing; the third stands behind the same gates as the tools.
"""

from dataclasses import dataclass

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import kindly
from kindly.app import App
from kindly.budget import Clock
from kindly.errors import KindlyError
from kindly.read.store import StoreStats
from kindly.server.ops import metrics
from kindly.server.ops.process_stats import this_process
from kindly.server.server_state import ServerState

STORE_S = 2.0
"""How long the library may take to answer."""
ASK_AGAIN_S = 1.0
"""How long it is believed to be as it was."""
COUNT_AGAIN_S = 15.0


@dataclass(slots=True)
class LibrarySize:
    """What the library's store says, not asked more often than needed."""

    server: ServerState
    clock: Clock = anyio.current_time
    _up: tuple[float, bool] | None = None
    _stats: tuple[float, StoreStats | None] | None = None

    async def is_up(self) -> bool:
        """Whether it can be opened and reached."""
        if self._up is None or self.clock() - self._up[0] > ASK_AGAIN_S:
            self._up = (self.clock(), await self._reached())
        return self._up[1]

    async def stats(self) -> StoreStats | None:
        """How much it holds; None when it cannot be reached."""
        if self._stats is None or self.clock() - self._stats[0] > COUNT_AGAIN_S:
            self._stats = (self.clock(), await self._counted())
        return self._stats[1]

    async def _reached(self) -> bool:
        app = self.server.current_app()
        if app is None or app.library is None:
            return True
        try:
            with anyio.fail_after(STORE_S):
                await (await app.library()).model()
        except (KindlyError, TimeoutError):
            return False
        return True

    async def _counted(self) -> StoreStats | None:
        app = self.server.current_app()
        if app is None or app.library is None:
            return None
        try:
            with anyio.fail_after(STORE_S):
                return await (await app.library()).stats()
        except (KindlyError, TimeoutError):
            return None


def routes(server: ServerState, library: LibrarySize) -> list[Route]:
    """The three pages."""

    async def ready(_: Request) -> Response:
        reason = await unready(server.current_app(), library)
        if reason:
            return JSONResponse({"status": "unavailable", "reason": reason}, 503)
        return JSONResponse({"status": "ok"})

    async def counts(_: Request) -> Response:
        return Response(await exposed(server, library), media_type=metrics.CONTENT_TYPE)

    return [
        Route("/health", health),
        Route("/ready", ready),
        Route("/metrics", counts),
    ]


async def health(_: Request) -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok", "version": kindly.__version__})


async def unready(app: App | None, library: LibrarySize) -> str:
    """Why calls should go elsewhere for now, in a word; empty when they may come."""
    if app is None:
        return "closed"
    if app.room.is_full:
        return "full"
    return "" if await library.is_up() else "store"


async def exposed(server: ServerState, library: LibrarySize) -> str:
    """All that was counted, as Prometheus reads it."""
    app = server.current_app()
    if app is None:
        return "\n"
    watch = app.watch
    return metrics.exposition(
        [
            *metrics.of_calls(watch),
            *metrics.of_providers(app.standing()),
            *metrics.of_library(await library.stats()),
            *metrics.of_process(this_process(), kindly.__version__, watch.started_at),
        ]
    )
