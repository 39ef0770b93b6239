"""A key is sent in its header only, whatever the vendor or the network does."""

import logging
import traceback
from collections.abc import Iterator

import anyio
import httpx2
import pytest
from pydantic import SecretStr

from kindly.budget import Deadline
from kindly.errors import SearchError
from kindly.models import Query
from kindly.net.api_client import WIRE_LOGGERS, build_client
from kindly.search.provider import ProviderSpec
from kindly.search.providers import PROVIDERS
from tests.support.fakes import FakeApi, Reply, built, loopback_server
from tests.support.routing import routed

pytestmark = pytest.mark.anyio

CANARY = "canary-7c1e5b2d90aa"
QUERY = Query("query-text-of-the-user")

KEYED = tuple(spec for spec in PROVIDERS if spec.needs[0].kind == "secret")

each_provider = pytest.mark.parametrize("spec", KEYED, ids=lambda spec: spec.name)


def echo(status: int) -> Reply:
    """A server that echoes everything that it received."""

    def reply(request: httpx2.Request) -> httpx2.Response:
        said = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
        headers = {"X-Echo": CANARY, "Location": f"https://elsewhere.example/?key={CANARY}"}
        return httpx2.Response(status, json={"message": said, "results": said}, headers=headers)

    return reply


def chain_of(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def everything_shown_by(error: BaseException) -> str:
    parts = traceback.format_exception(error)
    for link in chain_of(error):
        parts += [str(link), repr(link), repr(vars(link)), repr(link.args)]
    return "\n".join(parts)


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """All loggers at DEBUG, without filters of other clients."""
    kept = {name: list(logging.getLogger(name).filters) for name in WIRE_LOGGERS}
    for name in (None, "httpcore2", *WIRE_LOGGERS):
        caplog.set_level(logging.DEBUG, logger=name)
        logging.getLogger(name).filters.clear()
    yield caplog
    for name, filters in kept.items():
        logging.getLogger(name).filters[:] = filters


@each_provider
@pytest.mark.parametrize(
    "reply",
    [
        *(pytest.param(echo(status), id=str(status)) for status in (200, 302, 400, 401, 403)),
        *(pytest.param(echo(status), id=str(status)) for status in (404, 429, 432, 500, 503)),
        pytest.param(httpx2.ConnectError(f"cannot send {CANARY}"), id="connect"),
        pytest.param(httpx2.ReadTimeout(f"cannot send {CANARY}"), id="timeout"),
        pytest.param(httpx2.LocalProtocolError(f"Illegal header value {CANARY}"), id="header"),
        pytest.param(httpx2.Response(200, text=f"<p>{CANARY}"), id="html"),
        pytest.param(httpx2.Response(200, json={"results": [CANARY]}), id="shape"),
    ],
)
async def test_no_error_or_log_line_shows_the_key(
    spec: ProviderSpec, reply: Reply, logs: pytest.LogCaptureFixture
) -> None:
    host = httpx2.URL(spec.base_url).host
    async with FakeApi({host: [reply]}).client() as client:
        provider = built(spec, client, SecretStr(CANARY))
        router = routed(provider)
        with anyio.fail_after(120), pytest.raises(SearchError) as caught:
            await router.search(QUERY, Deadline.after(60))
    assert CANARY not in everything_shown_by(caught.value)
    assert CANARY not in logs.text


@each_provider
@pytest.mark.parametrize(
    "reply", [httpx2.ConnectError("no"), httpx2.Response(401)], ids=["network", "refusal"]
)
async def test_the_frames_of_an_error_do_not_contain_the_key(
    spec: ProviderSpec, reply: Reply
) -> None:
    """Some hosts print local variables with a traceback, and chained errors contain the request."""
    host = httpx2.URL(spec.base_url).host
    async with FakeApi({host: [reply]}).client() as client:
        provider = built(spec, client, SecretStr(CANARY))
        with pytest.raises(SearchError) as caught:
            await provider.search(QUERY, Deadline.after(60))
    assert list(chain_of(caught.value)) == [caught.value]
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert CANARY not in "".join(shown.format())


@each_provider
async def test_the_failure_of_all_providers_shows_no_key(spec: ProviderSpec) -> None:
    hosts = [httpx2.URL(each.base_url).host for each in KEYED]
    async with FakeApi({host: [echo(500)] for host in hosts}).client() as client:
        router = routed(*(built(each, client, SecretStr(CANARY)) for each in KEYED))
        with pytest.raises(SearchError) as caught:
            await router.search(QUERY, Deadline.after(60))
    assert CANARY not in everything_shown_by(caught.value)


ECHO_ON_THE_WIRE = (
    b"HTTP/1.1 500 Sorry\r\nX-Echo: " + CANARY.encode() + b"\r\nContent-Length: 0\r\n\r\n"
)


@each_provider
async def test_a_real_connection_logs_neither_key_nor_query_at_any_level(
    spec: ProviderSpec, logs: pytest.LogCaptureFixture
) -> None:
    async with (
        loopback_server(ECHO_ON_THE_WIRE) as server,
        build_client(timeout_s=5, user_agent="test") as client,
    ):
        provider = built(spec, client, SecretStr(CANARY), f"http://127.0.0.1:{server.port}")
        with anyio.fail_after(120), pytest.raises(SearchError) as caught:
            await provider.search(QUERY, Deadline.after(60))
    assert caught.value.status == 500
    assert CANARY.encode() in server.received[0]
    assert CANARY not in logs.text
    assert QUERY.text not in logs.text
    assert CANARY not in everything_shown_by(caught.value)
