"""Every exception of the HTTP libraries becomes one of our errors."""

import inspect
import ssl
from types import ModuleType

import anyio
import h2.exceptions
import h11
import httpcore2
import httpx2
import pytest
from anyio.abc import ByteStream, SocketAttribute

from kindly.errors import AddressRefused, FetchError, PageTimeout, PageUnreachable
from kindly.fetch.chain.http_errors import FOREIGN, to_leaf, translated
from kindly.fetch.chain.types import ConnectionDropped
from kindly.urls import parse

URL = parse("https://example.com/")


def exceptions_of(module: ModuleType) -> list[type[Exception]]:
    members = (getattr(module, name) for name in dir(module))
    return [
        member
        for member in members
        if inspect.isclass(member)
        and issubclass(member, Exception)
        and not issubclass(member, Warning)
    ]


@pytest.mark.parametrize(
    "kind",
    [
        *exceptions_of(httpx2),
        *exceptions_of(httpcore2),
        *exceptions_of(h2.exceptions),
        *exceptions_of(h11),
    ],
    ids=lambda kind: f"{kind.__module__}.{kind.__name__}",
)
def test_every_exception_of_the_http_libraries_has_an_error(kind: type[Exception]) -> None:
    assert issubclass(kind, FOREIGN)
    error = kind.__new__(kind)

    leaf = to_leaf(error, URL)

    assert isinstance(leaf, FetchError)
    assert leaf.url == str(URL)


@pytest.mark.parametrize(
    ("error", "leaf"),
    [
        (httpcore2.ConnectTimeout(), PageTimeout),
        (httpcore2.PoolTimeout(), PageTimeout),
        (TimeoutError(), PageTimeout),
        (httpcore2.ConnectError(), PageUnreachable),
        (httpcore2.ProxyError(), PageUnreachable),
        (httpcore2.RemoteProtocolError("bad"), PageUnreachable),
        (httpcore2.UnsupportedProtocol(), AddressRefused),
        (httpx2.InvalidURL("bad"), AddressRefused),
        (httpx2.DecodingError("bad"), PageUnreachable),
        (ConnectionResetError(), PageUnreachable),
        (ssl.SSLError(), PageUnreachable),
        (anyio.BrokenResourceError(), PageUnreachable),
        (anyio.EndOfStream(), PageUnreachable),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_exception_becomes_its_error_with_the_cause_kept(
    error: Exception, leaf: type[FetchError]
) -> None:
    with pytest.raises(leaf) as caught, translated(URL):
        raise error

    assert caught.value.__cause__ is error
    assert "example.com" in caught.value.detail


@pytest.mark.parametrize(
    ("error", "dropped"),
    [
        (httpcore2.ReadError(), True),
        (httpcore2.WriteError(), True),
        (httpcore2.RemoteProtocolError("Server disconnected without sending a response."), True),
        (httpcore2.RemoteProtocolError("illegal status line"), False),
        (httpcore2.ConnectError(), False),
        (httpcore2.ReadTimeout(), False),
    ],
    ids=["read", "write", "disconnected", "illegal", "connect", "timeout"],
)
def test_only_a_connection_that_broke_before_the_answer_is_dropped(
    error: Exception, dropped: bool
) -> None:
    assert isinstance(to_leaf(error, URL, before_answer=True), ConnectionDropped) is dropped
    assert not isinstance(to_leaf(error, URL), ConnectionDropped)


@pytest.mark.anyio
async def test_httpcore2_still_reports_a_closed_connection_in_the_words_that_mean_a_drop() -> None:
    async def hang_up(client: ByteStream) -> None:
        async with client:
            await client.receive()

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, hang_up)
        port = listener.extra(SocketAttribute.local_port)
        async with httpcore2.AsyncConnectionPool() as pool:
            with pytest.raises(httpcore2.RemoteProtocolError) as caught, anyio.fail_after(120):
                await pool.request("GET", f"http://127.0.0.1:{port}/")
        tasks.cancel_scope.cancel()

    assert isinstance(to_leaf(caught.value, URL, before_answer=True), ConnectionDropped)


def test_certificate_problem_is_named() -> None:
    reason = ssl.SSLCertVerificationError()
    reason.verify_message = "self-signed certificate"
    error = httpcore2.ConnectError()
    error.__cause__ = reason

    assert "self-signed certificate" in to_leaf(error, URL).detail


def test_our_own_errors_pass_unchanged() -> None:
    refused = AddressRefused("no", url="x")

    with pytest.raises(AddressRefused) as caught, translated(URL):
        raise refused

    assert caught.value is refused


@pytest.mark.parametrize("status", ["403 Forbidden", "407 Proxy Authentication Required"])
def test_a_refusal_of_the_proxy_is_told_as_the_proxys(status: str) -> None:
    leaf = to_leaf(httpcore2.ProxyError(status), parse("https://a.example/"))
    assert "The configured proxy, not a.example, refused" in str(leaf)
    assert status[:3] in str(leaf)
