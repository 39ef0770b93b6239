"""`start-mcp-server`: settings → a running server. A module of its own, so that serving imports nothing else."""

import anyio

from kindly.app import open_app
from kindly.server.mcp import build_server, serve_stdio
from kindly.server.profiles import profile_for
from kindly.settings import Settings


def serve(settings: Settings) -> None:
    """Serve until the client disconnects or the process is stopped."""
    server = build_server(
        lambda: open_app(settings), profile_for(settings), plain_names=settings.plain_names
    )
    if settings.transport == "http":
        from kindly.server.http.asgi import serve_http

        serve_http(server, settings)
    else:
        anyio.run(serve_stdio, server)
