"""An ASGI application that echoes its caller and body size, and a client for middleware around it."""

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kindly.server.http.access import ANYONE, CALLER

HOST = "http://kindly.test"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    caller = scope.get(CALLER, ANYONE).name
    await JSONResponse({"caller": caller, "bytes": len(body)})(scope, receive, send)


def client_of(app: ASGIApp) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HOST)
