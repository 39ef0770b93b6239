"""Large, slow and frequent requests are rejected with a reason, and cost no more than the limit."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
import uvicorn
from starlette.types import Message

from kindly.server.http.access import BearerAuth, StaticTokens
from kindly.server.http.request_limits import (
    MAX_HEAD_BYTES,
    BodyLimit,
    HeaderLimit,
    HeadTimeoutProtocol,
    RateLimit,
    TokenBuckets,
)
from tests.support.asgi import client_of, echo

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that moves only when it is advanced."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"X-Note": "n" * 15_000}, 200),
        ({"X-Note": "n" * 16_400}, 431),
        ({f"X-{number}": "" for number in range(60)}, 200),
        ({f"X-{number}": "" for number in range(101)}, 431),
    ],
    ids=["few", "long", "too long", "many", "too many"],
)
async def test_headers_have_a_limit(headers: dict[str, str], status: int) -> None:
    async with client_of(HeaderLimit(echo)) as client:
        assert (await client.get("/mcp", headers=headers)).status_code == status


async def test_a_body_up_to_the_limit_arrives_whole() -> None:
    async with client_of(BodyLimit(echo, 1000)) as client:
        assert (await client.post("/mcp", content=b"x" * 1000)).json()["bytes"] == 1000
        assert (await client.get("/mcp")).json()["bytes"] == 0


async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    async with client_of(BodyLimit(echo, 1000)) as client:
        assert (await client.post("/mcp", content=b"x" * 1001)).status_code == 413


@pytest.mark.parametrize("length", [None, b"12", b"-5", b"many"])
async def test_a_body_that_says_nothing_or_lies_is_read_to_the_limit_only(
    length: bytes | None,
) -> None:
    read = 0
    sent: list[Message] = []

    async def endless() -> Message:
        nonlocal read
        read += 100
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", length)]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    with anyio.fail_after(120):
        await BodyLimit(echo, 1000)(scope, endless, send)
    assert sent[0]["status"] == 413
    assert read <= 1200


async def test_a_body_that_does_not_arrive_in_time_is_rejected() -> None:
    sent: list[Message] = []
    parts = iter([{"type": "http.request", "body": b"{", "more_body": True}])

    async def stuck() -> Message:
        for part in parts:
            return part
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
    with anyio.fail_after(120):
        await BodyLimit(echo, 1000, within_s=0.01)(scope, stuck, send)
    assert sent[0]["status"] == 408


async def test_a_disconnect_reaches_the_application() -> None:
    received: list[Message] = []
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"a"}, {"type": "http.disconnect"}]
    )

    async def receive() -> Message:
        return next(messages)

    async def send(_: Message) -> None:
        raise AssertionError

    async def listening(_: object, receive_: object, __: object) -> None:
        assert callable(receive_)
        received.extend([await receive_(), await receive_()])

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
    await BodyLimit(listening, 1000)(scope, receive, send)
    assert [message["type"] for message in received] == ["http.request", "http.disconnect"]


async def test_a_disconnect_before_the_body_reaches_the_application() -> None:
    received: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def listening(_: object, receive_: object, __: object) -> None:
        assert callable(receive_)
        received.append(await receive_())

    async def send(_: Message) -> None:
        raise AssertionError

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
    await BodyLimit(listening, 1000)(scope, receive, send)
    assert received == [{"type": "http.disconnect"}]


async def test_lifespan_events_have_no_limits() -> None:
    started: list[str] = []

    async def app(scope: object, receive: object, send: object) -> None:
        started.append("yes")

    async def unused() -> Message:
        raise AssertionError

    async def unsent(_: Message) -> None:
        raise AssertionError

    limits = HeaderLimit(RateLimit(BodyLimit(app, 1), 1, Clock()))
    await limits({"type": "lifespan"}, unused, unsent)
    assert started == ["yes"]


async def test_a_caller_above_the_rate_limit_gets_retry_after() -> None:
    clock = Clock()
    first, second = "canary-first", "canary-second"
    app = BearerAuth(RateLimit(echo, 60, clock), [StaticTokens(f"{first} {second}")])
    async with client_of(app) as client:

        async def status(token: str) -> int:
            return (
                await client.get("/mcp", headers={"Authorization": f"Bearer {token}"})
            ).status_code

        assert {await status(first) for _ in range(60)} == {200}
        refused = await client.get("/mcp", headers={"Authorization": f"Bearer {first}"})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert await status(second) == 200
        clock.now += 1
        assert [await status(first), await status(first)] == [200, 429]
        assert {(await client.get("/health")).status_code for _ in range(70)} == {200}


def test_the_wait_follows_from_the_rate() -> None:
    clock = Clock()
    buckets = TokenBuckets(1, clock)
    assert buckets.take("a") == 0
    assert buckets.take("a") == pytest.approx(60)
    clock.now += 59
    assert buckets.take("a") == pytest.approx(1)
    clock.now += 3600
    assert [buckets.take("a") == 0, buckets.take("a") == 0] == [True, False]


def test_the_least_recent_caller_is_evicted_first() -> None:
    buckets = TokenBuckets(1, Clock(), most=2)
    assert [buckets.take(name) for name in ("a", "b", "c")] == [0, 0, 0]
    assert buckets.take("c") > 0
    assert buckets.take("a") == 0


@asynccontextmanager
async def serving(protocol: type[HeadTimeoutProtocol]) -> AsyncIterator[int]:
    """A real server around `echo`, in this event loop; gives its port."""
    config = uvicorn.Config(
        HeaderLimit(echo),
        http=protocol,
        log_config=None,
        lifespan="off",
        ws="none",
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            while not server.started:
                await anyio.lowlevel.checkpoint()
            yield listening.getsockname()[1]
            server.should_exit = True


class Hurried(HeadTimeoutProtocol):
    head_s = 0.05


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /mcp HT", b"GET /mcp HTTP/1.1\r\nHost: a\r\n"],
    ids=["nothing", "half a line", "no end"],
)
async def test_a_connection_that_sends_no_whole_head_is_closed(sent: bytes) -> None:
    with anyio.fail_after(120):
        async with serving(Hurried) as port, await anyio.connect_tcp("127.0.0.1", port) as stream:
            if sent:
                await stream.send(sent)
            with pytest.raises(anyio.EndOfStream):
                await stream.receive()


async def test_an_answered_connection_is_kept_for_the_next_request() -> None:
    request = b"GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n"
    with anyio.fail_after(120):
        async with (
            serving(HeadTimeoutProtocol) as port,
            await anyio.connect_tcp("127.0.0.1", port) as stream,
        ):
            for _ in range(3):
                await stream.send(request[:10])
                await anyio.lowlevel.checkpoint()
                await stream.send(request[10:])
                answer = await stream.receive()
                while not answer.endswith(b"}"):
                    answer += await stream.receive()
                assert answer.startswith(b"HTTP/1.1 200")


async def test_an_oversized_head_is_not_read() -> None:
    with anyio.fail_after(120):
        async with (
            serving(HeadTimeoutProtocol) as port,
            await anyio.connect_tcp("127.0.0.1", port) as stream,
        ):
            await stream.send(b"GET /mcp HTTP/1.1\r\nHost: a\r\nX-Note: " + b"n" * 40_000)
            assert (await stream.receive()).startswith(b"HTTP/1.1 400")
