"""Idle connections that their peers closed are found with one system call for all of them."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from httpcore2 import AsyncNetworkStream

from kindly.fetch.guard.idle_connections import POLL_INTERVAL_S, IdleConnections

pytestmark = pytest.mark.anyio


class Stream(AsyncNetworkStream):
    """A connection that has only a socket."""

    def __init__(self, connection: socket.socket | None) -> None:
        self.connection = connection

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return b"answer"

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        assert self.connection is not None
        self.connection.sendall(buffer)

    async def aclose(self) -> None:
        assert self.connection is not None
        self.connection.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        return Stream(self.connection)

    def get_extra_info(self, info: str) -> Any:
        return {"socket": self.connection, "is_readable": "asked of the stream"}.get(info)


class World:
    """Connections, their peers, and a clock."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.now = 100.0
        self.idle = IdleConnections(lambda: self.now)

    def connect(self) -> tuple[AsyncNetworkStream, socket.socket]:
        ours, theirs = (self._stack.enter_context(one) for one in socket.socketpair())
        return self.idle.polled(Stream(ours)), theirs

    def wait(self) -> None:
        self.now += 2 * POLL_INTERVAL_S


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as stack:
        yield World(stack)


async def test_a_connection_is_readable_once_its_peer_hung_up_and_others_are_not(
    world: World,
) -> None:
    (first, peer), (second, _) = world.connect(), world.connect()
    assert not first.get_extra_info("is_readable")
    peer.close()
    assert not first.get_extra_info("is_readable")  # known for this moment
    world.wait()
    assert first.get_extra_info("is_readable")
    assert not second.get_extra_info("is_readable")


async def test_what_comes_can_be_read_and_what_is_written_arrives(world: World) -> None:
    stream, peer = world.connect()
    peer.sendall(b"early")
    assert stream.get_extra_info("is_readable")
    await stream.write(b"hello")
    assert peer.recv(5) == b"hello"
    assert await stream.read(10) == b"answer"


async def test_a_closed_connection_is_readable_and_its_number_may_go_to_another(
    world: World,
) -> None:
    stream, _ = world.connect()
    number = stream.get_extra_info("socket").fileno()
    stream.get_extra_info("socket").close()
    assert stream.get_extra_info("is_readable")
    other, _ = world.connect()
    assert other.get_extra_info("socket").fileno() == number
    await stream.aclose()
    world.wait()
    assert not other.get_extra_info("is_readable")
    await other.aclose()
    assert other.get_extra_info("is_readable")


async def test_a_connection_under_tls_is_watched_on(world: World) -> None:
    stream, peer = world.connect()
    secure = await stream.start_tls(ssl.create_default_context())
    peer.close()
    world.wait()
    assert secure.get_extra_info("is_readable")


async def test_a_stream_without_a_socket_answers_for_itself(world: World) -> None:
    stream = world.idle.polled(Stream(None))
    assert stream.get_extra_info("is_readable") == "asked of the stream"
