"""The protocol version of a request must be the same in its header and its body (400)."""

import json
from collections.abc import Mapping

from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kindly.frozen import frozen

DIFFERS = "The MCP-Protocol-Version header does not match the protocol version in the request body"


@frozen
class VersionCheck:
    """Rejects such requests to one path. The body arrives as one message."""

    app: ASGIApp
    path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 400."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != self.path:
            await self.app(scope, receive, send)
            return
        messages = [await receive()]
        named = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER)
        body = _decoded(messages[0].get("body", b"")) if named is not None else None
        if isinstance(body, Mapping) and version_of(body) not in {None, named}:
            await _refusal(body)(scope, receive, send)
            return

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)


def version_of(body: Mapping[str, object]) -> str | None:
    """The version that a request's body names: in its envelope, or in the parameters of `initialize`."""
    params = body.get("params")
    if not isinstance(params, Mapping):
        return None
    meta = params.get("_meta")
    version = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, Mapping) else None
    if version is None and body.get("method") == "initialize":
        version = params.get("protocolVersion")
    return version if isinstance(version, str) else None


def _decoded(body: bytes) -> object:
    try:
        decoded: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return decoded


def _refusal(body: Mapping[str, object]) -> JSONResponse:
    number = body.get("id")
    answer = {
        "jsonrpc": "2.0",
        "id": number if isinstance(number, int | str) else None,
        "error": {"code": HEADER_MISMATCH, "message": DIFFERS},
    }
    return JSONResponse(answer, 400)
