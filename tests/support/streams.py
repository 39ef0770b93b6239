"""A network below the filtering proxy: connections that a function talks on, and a note of each dial."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import ByteStream, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream


class Talk(ByteStream):
    """One end of a connection in memory."""

    def __init__(
        self,
        outgoing: MemoryObjectSendStream[bytes],
        incoming: MemoryObjectReceiveStream[bytes],
        heard: list[bytes] | None = None,
    ) -> None:
        self._outgoing = outgoing
        self._incoming = incoming
        self._heard = heard

    async def send(self, item: bytes) -> None:
        if self._heard is not None:
            self._heard.append(item)
        await self._outgoing.send(item)

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        return await self._incoming.receive()

    async def send_eof(self) -> None:
        await self._outgoing.aclose()

    async def aclose(self) -> None:
        await self._outgoing.aclose()
        await self._incoming.aclose()


Server = Callable[[Talk], Awaitable[None]]


async def hello(talk: Talk) -> None:
    await talk.receive()
    await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: 1\r\n\r\nhello")


@dataclass
class ScriptedNet:
    """Records what would have been dialled; `server` answers on each connection."""

    tasks: TaskGroup
    server: Server = hello
    refusing: frozenset[str] = frozenset()
    dialled: list[tuple[str, int]] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)
    """Every piece that was sent to a server."""

    async def dial(self, address: str, port: int) -> ByteStream:
        self.dialled.append((address, port))
        if address in self.refusing:
            raise ConnectionRefusedError
        up = anyio.create_memory_object_stream[bytes](math.inf)
        down = anyio.create_memory_object_stream[bytes](math.inf)
        self.tasks.start_soon(self._serve, Talk(down[0], up[1]))
        return Talk(up[0], down[1], self.received)

    async def _serve(self, talk: Talk) -> None:
        async with talk:
            try:
                await self.server(talk)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return


@asynccontextmanager
async def scripted_net(
    server: Server = hello, refusing: frozenset[str] = frozenset()
) -> AsyncIterator[ScriptedNet]:
    """The network, for as long as the block runs."""
    async with anyio.create_task_group() as tasks:
        yield ScriptedNet(tasks, server, refusing)
        tasks.cancel_scope.cancel()
