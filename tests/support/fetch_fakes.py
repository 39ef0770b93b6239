"""Fakes below the guard: a resolver with scripted answers, a dialler without a network, a clock."""

import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio
import anyio.lowlevel
from httpcore2 import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream, ConnectError

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.fetch.chain.types import HopReply, HopRequest
from kindly.urls import parse
from tests.support.site import Answer, head_of

PUBLIC = "93.184.215.14"
START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeResolver:
    """Answers per name; each look-up takes the next answer, the last one repeats."""

    def __init__(self, answers: Mapping[str, Sequence[Sequence[str]]], delay_s: float = 0) -> None:
        self.answers = answers
        self.delay_s = delay_s
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        turn = self.asked.count(host)
        self.asked.append(host)
        if self.delay_s:
            await anyio.sleep_forever()
        if host not in self.answers:
            raise OSError("no such name")
        rows = self.answers[host]
        return rows[min(turn, len(rows) - 1)]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that reached the fake network."""

    host: str
    target: str
    lines: tuple[str, ...]


Server = Callable[[Seen], Answer | bytes]


class FakeStream(AsyncNetworkStream):
    """A connection on which a function answers each request."""

    def __init__(self, dialler: "FakeDialler") -> None:
        self._dialler = dialler
        self._out = b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if not buffer:
            return
        first, *lines = buffer.decode("latin-1").strip().split("\r\n")
        host = next(line[6:] for line in lines if line.lower().startswith("host: "))
        seen = Seen(host, first.split(" ")[1], tuple(lines))
        self._dialler.seen.append(seen)
        answer = self._dialler.server(seen)
        if isinstance(answer, Answer):
            headers = {**answer.headers, "Content-Length": str(len(answer.body))}
            answer = head_of(answer.status, headers) + answer.body
        self._out += answer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        data, self._out = self._out[:max_bytes], self._out[max_bytes:]
        return data

    async def aclose(self) -> None:
        return None

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncNetworkStream:
        self._dialler.names.append(server_hostname or "")
        return self

    def get_extra_info(self, info: str) -> Any:
        return None


def not_found(seen: Seen) -> Answer:
    return Answer(b"", 404)


@dataclass
class FakeDialler(AsyncNetworkBackend):
    """Records the dialled addresses, and answers from a function."""

    server: Server = not_found
    refusing: frozenset[str] = frozenset()
    dialled: list[tuple[str, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Server names of TLS handshakes."""
    seen: list[Seen] = field(default_factory=list)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        self.dialled.append((host, port))
        if host in self.refusing:
            raise ConnectError("refused")
        return FakeStream(self)


@dataclass
class FakeTime:
    """A clock that moves only in `sleep`."""

    passed_s: float = 0.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.passed_s += seconds
        await anyio.lowlevel.checkpoint()

    @property
    def clock(self) -> Clock:
        return Clock(
            time=lambda: START.timestamp() + self.passed_s,
            monotonic=lambda: self.passed_s,
            sleep=self.sleep,
            random=lambda: 0.5,
        )

    def deadline(self, seconds: float = 30.0) -> Deadline:
        return Deadline.after(seconds, lambda: self.passed_s)

    def ask(self, url: str = "https://example.com/", seconds: float = 30.0) -> HopRequest:
        return HopRequest(parse(url), self.deadline(seconds))


@dataclass
class ScriptedHop:
    """A hop that gives its replies and failures in order; the last one repeats."""

    script: Sequence[HopReply | Exception]
    asked: list[HopRequest] = field(default_factory=list)

    async def __call__(self, request: HopRequest) -> HopReply:
        step = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(request)
        await anyio.lowlevel.checkpoint()
        if isinstance(step, Exception):
            raise step
        return step


def reply(
    status: int = 200, url: str = "https://example.com/", body: bytes = b"", **headers: str
) -> HopReply:
    """A reply; `retry_after="3"` becomes that header."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HopReply(parse(url), status, pairs, body)
