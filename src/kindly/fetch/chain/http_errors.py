"""Exceptions of the HTTP libraries → our errors. One table; the first match wins."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import h2.exceptions
import h11
import httpcore2
import httpx2

from kindly.errors import AddressRefused, FetchError, PageTimeout, PageUnreachable
from kindly.fetch.chain.types import ConnectionDropped
from kindly.fetch.guard.informational import TooManyInformational
from kindly.net.tls import certificate_error
from kindly.urls import Url

Leaf = type[AddressRefused | PageTimeout | PageUnreachable]

TABLE: tuple[tuple[tuple[type[Exception], ...], Leaf, str], ...] = (
    (
        (httpcore2.ConnectTimeout, httpx2.ConnectTimeout),
        PageTimeout,
        "did not accept a connection in time",
    ),
    (
        (httpcore2.TimeoutException, httpx2.TimeoutException, TimeoutError),
        PageTimeout,
        "did not answer in time",
    ),
    (
        (httpcore2.ProxyError, httpx2.ProxyError),
        PageUnreachable,
        "could not be reached through the proxy",
    ),
    (
        (httpcore2.ConnectError, httpx2.ConnectError),
        PageUnreachable,
        "could not be reached",
    ),
    (
        (httpcore2.UnsupportedProtocol, httpx2.UnsupportedProtocol, httpx2.InvalidURL),
        AddressRefused,
        "is not an address that can be fetched",
    ),
    (
        (httpx2.DecodingError,),
        PageUnreachable,
        "sent content that could not be decompressed",
    ),
    (
        (TooManyInformational,),
        PageUnreachable,
        "sent too many informational (1xx) answers instead of the page",
    ),
    (
        (
            httpcore2.ProtocolError,
            httpx2.ProtocolError,
            h11.ProtocolError,
            h2.exceptions.H2Error,
        ),
        PageUnreachable,
        "violated HTTP or closed the connection early",
    ),
    (
        (
            httpcore2.NetworkError,
            httpcore2.ConnectionNotAvailable,
            httpx2.HTTPError,
            httpx2.StreamError,
            httpx2.CookieConflict,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            anyio.EndOfStream,
            ssl.SSLError,
            OSError,
        ),
        PageUnreachable,
        "broke the connection",
    ),
)

FOREIGN = tuple(kind for kinds, _, _ in TABLE for kind in kinds)
PROXY_STATUS = re.compile(r"[45]\d\d\b")
"""How the message of a refused `CONNECT` starts."""
DROPPED = (httpcore2.ReadError, httpcore2.WriteError)


@contextmanager
def translated(url: Url, *, before_answer: bool = False) -> Iterator[None]:
    """Translate exceptions of the HTTP libraries and the operating system that the block raises."""
    try:
        yield
    except FOREIGN as error:
        raise to_leaf(error, url, before_answer=before_answer) from error


def to_leaf(error: Exception, url: Url, *, before_answer: bool = False) -> FetchError:
    """Our error for one foreign exception."""
    if before_answer and _is_drop(error):
        return ConnectionDropped(
            f"{url.host} closed the connection without an answer.", url=str(url)
        )
    if (refused := certificate_error(error)) is not None:
        return PageUnreachable(
            f"The certificate of {url.host} was not accepted ({refused.verify_message}); "
            "SSL_CERT_FILE can name another authority.",
            url=str(url),
        )
    if isinstance(error, (httpcore2.ProxyError, httpx2.ProxyError)) and (
        found := PROXY_STATUS.match(str(error))
    ):
        return PageUnreachable(
            f"The configured proxy, not {url.host}, refused the connection (HTTP {found[0]}).",
            url=str(url),
        )
    leaf, sentence = next(
        (leaf, sentence) for kinds, leaf, sentence in TABLE if isinstance(error, kinds)
    )
    return leaf(f"{url.host} {sentence}.", url=str(url))


def _is_drop(error: Exception) -> bool:
    """Whether the connection ended before the first byte of the response; httpcore2 reports it only in words."""
    if isinstance(error, httpcore2.RemoteProtocolError):
        return str(error).startswith("Server disconnected")
    return isinstance(error, DROPPED)
