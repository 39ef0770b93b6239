"""The HTTP client for APIs that the user configured; unlike the page client it may reach private addresses.

It follows no redirects and does not read the environment. The HTTP library's loggers are silenced because they write
addresses and headers.
"""

import logging
from dataclasses import field
from typing import TYPE_CHECKING

from kindly.errors import SettingsError
from kindly.frozen import frozen

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    import anyio
    import httpx2

    Around = Callable[[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport]

WIRE_LOGGERS = (
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
)


@frozen
class Proxies:
    """The proxy of each scheme, and the hosts that are reached directly."""

    https: str | None = field(default=None, repr=False)
    http: str | None = field(default=None, repr=False)
    no_proxy: tuple[str, ...] = ()


@frozen
class Traffic:
    """What all outgoing requests share."""

    slots: "anyio.Semaphore | None" = field(default=None, repr=False)
    """Limits concurrent requests, together with page downloads."""
    around: "Around | None" = field(default=None, repr=False)
    """Wraps each transport, for recording."""


STRAIGHT = Traffic()


def build_client(
    *,
    timeout_s: float,
    user_agent: str,
    context: "ssl.SSLContext | None" = None,
    proxies: Proxies | None = None,
    transport: "httpx2.AsyncBaseTransport | None" = None,
    around: "Around | None" = None,
) -> "httpx2.AsyncClient":
    """A client; the caller closes it. Without a TLS context it makes its own. `around` wraps each of its transports.

    Raises:
        SettingsError: A proxy setting cannot be used.
    """
    import httpx2

    silence_wire_loggers()
    verify = context or True
    wrap = around or _unchanged
    if around is not None and transport is None:
        transport = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False)
    try:
        mounts = {
            pattern: wrap(httpx2.AsyncHTTPTransport(verify=verify, proxy=address, trust_env=False))
            if address
            else None
            for pattern, address in _routes(proxies or Proxies()).items()
        }
        return httpx2.AsyncClient(
            headers={"User-Agent": user_agent},
            timeout=timeout_s,
            verify=verify,
            transport=transport and wrap(transport),
            mounts=mounts,
            follow_redirects=False,
            http2=False,
            trust_env=False,
        )
    except (ValueError, ImportError, httpx2.InvalidURL):
        problem = SettingsError(
            "The proxy settings cannot be used: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
        )
    raise problem  # outside the handler: the library's error shows the proxy's password


def _unchanged(transport: "httpx2.AsyncBaseTransport") -> "httpx2.AsyncBaseTransport":
    return transport


def silence_wire_loggers() -> None:
    """Drop what the HTTP library logs below a warning, whatever levels are set. Idempotent."""
    for name in WIRE_LOGGERS:
        logging.getLogger(name).addFilter(_is_warning)


def _routes(proxies: Proxies) -> dict[str, str | None]:
    """URL pattern → proxy; None means no proxy."""
    if "*" in proxies.no_proxy:
        return {}
    by_scheme = {"https://": proxies.https, "http://": proxies.http}
    return {pattern: address for pattern, address in by_scheme.items() if address} | {
        _pattern(host): None for host in proxies.no_proxy
    }


def _pattern(host: str) -> str:
    address, slash, prefix = host.strip("[]").partition("/")
    if address.count(":") > 1:
        return f"all://[{address}]{slash}{prefix}"
    return f"all://{host}" if slash else f"all://*{host}"


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING
