"""The HTTP client for APIs that the user configured; it may reach what the page client may not.

It follows no redirect and reads nothing from the environment: what it needs is passed in. The
wire's loggers are kept quiet, as they write addresses and headers.
"""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kindly.errors import SettingsError

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


@dataclass(frozen=True, slots=True)
class Proxies:
    """Which proxy carries which scheme, and what goes past them."""

    https: str | None = field(default=None, repr=False)
    http: str | None = field(default=None, repr=False)
    past: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Traffic:
    """What requests go through on their way out."""

    slots: "anyio.Semaphore | None" = field(default=None, repr=False)
    """What they share with all other traffic."""
    around: "Around | None" = field(default=None, repr=False)
    """Put around each transport."""


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
    """An unopened client; the caller closes it. Without a TLS context it makes its own.

    `around` is put around each of its transports.

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
    """Drop what the HTTP library logs below a warning, whatever levels are set. Safe to repeat."""
    for name in WIRE_LOGGERS:
        logging.getLogger(name).addFilter(_is_warning)


def _routes(proxies: Proxies) -> dict[str, str | None]:
    """URL pattern → proxy, None meaning straight."""
    if "*" in proxies.past:
        return {}
    through = {"https://": proxies.https, "http://": proxies.http}
    return {pattern: address for pattern, address in through.items() if address} | {
        _pattern(host): None for host in proxies.past
    }


def _pattern(host: str) -> str:
    address, slash, prefix = host.strip("[]").partition("/")
    if address.count(":") > 1:
        return f"all://[{address}]{slash}{prefix}"
    return f"all://{host}" if slash else f"all://*{host}"


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING
