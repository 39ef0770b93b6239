"""Informational answers are counted per response and per second, in HTTP/1 and HTTP/2."""

import ssl
from typing import Any

import pytest
from httpcore2 import AsyncNetworkStream

from kindly.fetch.guard.informational import (
    FINAL_HEADERS,
    MAX_PER_RESPONSE,
    MAX_PER_SECOND,
    LimitedStream,
    TooManyInformational,
)

pytestmark = pytest.mark.anyio

HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
FINAL = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
DATA_FRAME, HEADERS_FRAME, PING_FRAME = 0, 1, 6


class Tls:
    """What a TLS connection says of itself."""

    def selected_alpn_protocol(self) -> str:
        return "h2"


class Wire(AsyncNetworkStream):
    """A connection that yields what it is given."""

    def __init__(self, *, http2: bool = False) -> None:
        self.http2 = http2
        self.pieces: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return self.pieces.pop(0)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        return

    async def aclose(self) -> None:
        return

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        self.http2 = True
        return self

    def get_extra_info(self, info: str) -> Any:
        return Tls() if self.http2 and info == "ssl_object" else None


class World:
    """A limited connection, and a clock."""

    def __init__(self, *, http2: bool = False) -> None:
        self.now = 100.0
        self.wire = Wire(http2=http2)
        self.stream: AsyncNetworkStream = LimitedStream(self.wire, lambda: self.now)

    async def receive(self, *pieces: bytes, pause_s: float = 0.0) -> int:
        """The number of pieces that are let through."""
        for number, piece in enumerate(pieces):
            self.now += pause_s
            self.wire.pieces.append(piece)
            try:
                assert await self.stream.read(65_536) == piece
            except TooManyInformational:
                return number
        return len(pieces)


def frame(kind: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, 4]) + stream.to_bytes(4) + payload


async def test_a_response_may_send_some_within_a_second() -> None:
    world = World()
    await world.stream.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await world.receive(HINT * MAX_PER_SECOND + FINAL) == 1


async def test_one_too_many_within_a_second_ends_the_connection() -> None:
    world = World()
    await world.stream.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await world.receive(*[HINT] * 50) == MAX_PER_SECOND


async def test_one_too_many_within_a_response_ends_the_connection() -> None:
    world = World()
    await world.stream.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await world.receive(*[HINT] * 50, pause_s=1.0) == MAX_PER_RESPONSE


async def test_every_response_has_its_own_allowance() -> None:
    world = World()
    for _ in range(3):
        await world.stream.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await world.receive(HINT * MAX_PER_SECOND + FINAL) == 1


@pytest.mark.parametrize("size", [1, 2, 7, 10, 11, 12, 47])
async def test_the_pieces_in_which_they_arrive_do_not_matter(size: int) -> None:
    world = World()
    await world.stream.write(b"GET / HTTP/1.1\r\n\r\n")
    sent = HINT * 50
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    let_through = await world.receive(*pieces)
    assert let_through == (MAX_PER_SECOND * len(HINT) + len(b"HTTP/1.1 1") - 1) // size


async def test_a_body_that_looks_like_informational_answers_is_a_body() -> None:
    world = World()
    await world.stream.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await world.receive(FINAL + HINT * 50, HINT * 50) == 2


async def test_under_http_2_the_headers_of_a_stream_are_counted() -> None:
    world = World(http2=True)
    most = FINAL_HEADERS + MAX_PER_SECOND
    assert await world.receive(*[frame(HEADERS_FRAME, 1, b"\x88")] * 50) == most
    world = World(http2=True)
    most = FINAL_HEADERS + MAX_PER_RESPONSE
    assert await world.receive(*[frame(HEADERS_FRAME, 1, b"\x88")] * 50, pause_s=1.0) == most


async def test_under_http_2_frames_are_distinguished_wherever_they_are_split() -> None:
    world = World(http2=True)
    lookalike = frame(DATA_FRAME, 1, frame(HEADERS_FRAME, 1) * 50)
    sent = frame(PING_FRAME, 0, bytes(8)) + lookalike * 3 + frame(DATA_FRAME, 1)
    for size in (1, 5, 9, 100, len(sent)):
        pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert await world.receive(*pieces) == len(pieces)


async def test_streams_of_one_connection_have_their_own_allowances() -> None:
    world = World(http2=True)
    for stream in range(1, 41, 2):
        sent = frame(HEADERS_FRAME, stream, b"\x88") * MAX_PER_SECOND
        assert await world.receive(sent) == 1


async def test_a_connection_under_tls_is_limited_on() -> None:
    world = World()
    world.stream = await world.stream.start_tls(ssl.create_default_context())
    assert await world.receive(frame(HEADERS_FRAME, 1, b"\x88") * 50) == 0
