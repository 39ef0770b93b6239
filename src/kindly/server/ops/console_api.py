"""What the parts of the console's API share: answers and refusals as JSON, and the running app."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kindly.app import App
from kindly.errors import InputError, KindlyError
from kindly.server.server_state import ServerState

JSON_TYPE = "application/json"
NO_STORE = {"Cache-Control": "no-store"}

Endpoint = Callable[[Request], Awaitable[Response]]


class Refusal(Exception):
    """A console request that cannot be answered."""

    def __init__(self, detail: str, status: int = 400) -> None:
        super().__init__(detail)
        self.status = status


def endpoint(handle: Callable[[Request], Awaitable[dict[str, Any]]]) -> Endpoint:
    """An endpoint that returns the result of `handle` as JSON, or an error as JSON."""

    async def answer(request: Request) -> Response:
        try:
            return JSONResponse(await handle(request), headers=NO_STORE)
        except Refusal as refusal:
            return JSONResponse({"error": str(refusal)}, refusal.status, NO_STORE)
        except KindlyError as error:
            status = 400 if isinstance(error, InputError) else 503
            return JSONResponse({"error": error.detail}, status, NO_STORE)

    return answer


def running_app(server: ServerState) -> App:
    """The app of a server that is up.

    Raises:
        Refusal: it is starting or stopping.
    """
    app = server.current_app()
    if app is None:
        raise Refusal("The server is starting or stopping: try again in a moment.", 503)
    return app


async def json_body(request: Request) -> object:
    """The body of a request, which must be JSON.

    Raises:
        Refusal: it is not.
    """
    if not request.headers.get("content-type", "").lower().startswith(JSON_TYPE):
        raise Refusal("A call must be sent as JSON.", 415)
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Refusal("The call is not valid JSON.") from None
