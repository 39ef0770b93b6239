"""Streamable HTTP: stateless, on loopback, or on other addresses with bearer tokens.

The middleware around the MCP application, outermost first: header limit, Host and Origin check, bearer authentication,
rate limit, body limit, protocol version.
"""

import ipaddress
import logging
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import ASGIApp

from kindly.errors import SettingsError
from kindly.server.http.access import (
    OPEN_PATHS,
    BearerAuth,
    Challenge,
    HostCheck,
    StaticTokens,
    TokenVerifier,
)
from kindly.server.http.listening import listen
from kindly.server.http.oauth import IssuerKeys, JwtVerifier, Resource, json_over_http
from kindly.server.http.protocol_version import VersionCheck
from kindly.server.http.request_limits import (
    MAX_HEAD_BYTES,
    BodyLimit,
    HeaderLimit,
    HeadTimeoutProtocol,
    RateLimit,
)
from kindly.server.mcp import KindlyServer
from kindly.server.ops import console, health
from kindly.server.server_state import ServerState
from kindly.settings import Settings, revealed

logger = logging.getLogger(__name__)

PATH = "/mcp"
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
WILDCARDS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - to recognise them, not to bind them
SHUTDOWN_S = 2
RATE_PER_MINUTE = 600
"""Default rate limit of one caller, if callers are authenticated."""
MAX_CONNECTIONS = 1000
"""Concurrent connections; more are answered 503."""


def build_http_app(server: KindlyServer, settings: Settings) -> ASGIApp:
    """The ASGI application: `/mcp`, the operator endpoints, the console and, with OAuth, the resource metadata.

    Raises:
        SettingsError: it would listen beyond loopback without authentication, or on every address without host
            names; or the tokens or the OAuth settings are not valid.
    """
    resource = Resource.of(settings)
    verifiers = _verifiers(settings, resource)
    hosts = _allowed_hosts(settings, authenticated=bool(verifiers))
    metadata_routes = resource.routes(PATH) if resource else []
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=settings.max_request_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=[*_pages(server.state), *metadata_routes],
    )
    app = BodyLimit(VersionCheck(app, PATH), settings.max_request_bytes)
    per_minute = settings.rate_per_minute or (RATE_PER_MINUTE if verifiers else None)
    if per_minute:
        app = RateLimit(app, per_minute)
    if verifiers:
        challenge = Challenge(resource.metadata_url, resource.scopes) if resource else Challenge()
        open_paths = OPEN_PATHS | {console.PATH} | {route.path for route in metadata_routes}
        app = BearerAuth(app, verifiers, challenge, open_paths)
    return HeaderLimit(HostCheck(app, hosts))


def _verifiers(settings: Settings, resource: Resource | None) -> list[TokenVerifier]:
    """The verifiers that are configured: static tokens, an authorization server, both or none."""
    verifiers: list[TokenVerifier] = []
    if settings.http_token or settings.http_token_file:
        verifiers.append(
            StaticTokens(revealed(settings.http_token) or "", settings.http_token_file)
        )
    if resource:
        verifiers.append(JwtVerifier(resource, IssuerKeys(resource, json_over_http(settings))))
    return verifiers


def _pages(state: ServerState) -> list[Route]:
    """The operator endpoints and the console."""
    library = health.LibrarySize(state)
    return [*health.routes(state, library), *console.routes(state, library)]


def _allowed_hosts(settings: Settings, *, authenticated: bool) -> list[str]:
    """The allowed host names, without ports."""
    named = [*LOOPBACK_HOSTS, *settings.allowed_hosts]
    if settings.public_url:
        named.append(urlsplit(settings.public_url).hostname or "")
    if not _is_loopback(settings.host):
        if not authenticated:
            raise SettingsError(
                f"KINDLY_HOST {settings.host} is reachable by others: set KINDLY_HTTP_TOKEN, "
                "KINDLY_HTTP_TOKEN_FILE or KINDLY_OAUTH_ISSUER, or listen on 127.0.0.1."
            )
        if settings.host in WILDCARDS and len(named) == len(LOOPBACK_HOSTS):
            raise SettingsError(
                f"KINDLY_HOST {settings.host} listens on every address: name the hosts that clients "
                "will use in KINDLY_ALLOWED_HOSTS."
            )
    if settings.host not in WILDCARDS:
        named.append(settings.host)
    return [f"[{host}]" if ":" in host and host[0] != "[" else host for host in named]


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve_http(server: KindlyServer, settings: Settings) -> None:
    """Serve over HTTP until the process is stopped.

    Raises:
        SettingsError: the address cannot be bound.
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
        proxy_headers=False,
        http=HeadTimeoutProtocol,
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        limit_concurrency=MAX_CONNECTIONS,
    )
    uvicorn.Server(config).run(sockets=[listening])
