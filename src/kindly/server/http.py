"""The server over streamable HTTP: stateless, on loopback, or beyond it behind a bearer token."""

import hmac
import ipaddress
import logging
import socket

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import kindly
from kindly.app import App
from kindly.errors import SettingsError
from kindly.settings import Settings

logger = logging.getLogger(__name__)

PATH = "/mcp"
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - to recognise them, not to bind them
SHUTDOWN_S = 2


class TokenGate:
    """Lets only requests through that carry the bearer token; `/health` is open."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 401."""
        if scope["type"] != "http" or scope["path"] == "/health" or self._allowed(scope):
            await self._app(scope, receive, send)
            return
        response = PlainTextResponse(
            "A bearer token is required.", 401, {"WWW-Authenticate": "Bearer"}
        )
        await response(scope, receive, send)

    def _allowed(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(given, self._expected)


def build_http_app(server: Server[App], settings: Settings) -> ASGIApp:
    """The ASGI application: `/mcp` and `/health`.

    Raises:
        SettingsError: it would listen beyond loopback without a token, or on every address without host names.
    """
    hosts = _allowed_hosts(settings)
    origins = [f"http://{host}" for host in hosts] + [f"https://{host}" for host in hosts]
    app: Starlette = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
        ),
        custom_starlette_routes=[Route("/health", _health)],
    )
    if settings.http_token is None:
        return app
    return TokenGate(app, settings.http_token.get_secret_value())


async def _health(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": kindly.__version__})


def _allowed_hosts(settings: Settings) -> list[str]:
    if not _is_loopback(settings.host):
        if settings.http_token is None:
            raise SettingsError(
                f"KINDLY_HOST {settings.host} is reachable by others: set KINDLY_HTTP_TOKEN, "
                "or listen on 127.0.0.1."
            )
        if settings.host in WILDCARDS and not settings.allowed_hosts:
            raise SettingsError(
                f"KINDLY_HOST {settings.host} listens on every address: name the hosts that clients "
                "will use in KINDLY_ALLOWED_HOSTS."
            )
    named = [*LOOPBACK_HOSTS, *settings.allowed_hosts]
    if settings.host not in WILDCARDS:
        named.append(settings.host)
    return [form for host in dict.fromkeys(named) for form in (host, f"{host}:*")]


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve_http(server: Server[App], settings: Settings) -> None:
    """Serve clients over HTTP until the process is told to stop.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    app = build_http_app(server, settings)
    listening = listen(settings)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    logger.warning("listening on http://%s:%s%s", shown, port, PATH)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listening])


def listen(settings: Settings) -> socket.socket:
    """A socket at the address that is set.

    Raises:
        SettingsError: it cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise SettingsError(
            f"KINDLY_HOST {settings.host}, KINDLY_PORT {settings.port} cannot be listened on: "
            f"{error.strerror or error}. Choose another port."
        ) from None
    # Without this every answer waits 40 ms for the client's delayed acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
