"""Fakes for tests: clocks, pauses, providers and APIs."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.abc
import httpx2

from kindly.budget import Deadline
from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.models import Hit, ProviderResults, Query
from kindly.redact import Secret
from kindly.search.provider import Access, ProviderSpec, SearchProvider
from kindly.search.vendor_api import VendorApi
from tests.support.memory_state import MemoryState
from tests.support.paths import DATA

PROVIDER_DATA = DATA / "providers"
"""Answers in the formats that the vendors document, one folder per provider."""


@dataclass
class FakeClock:
    """A clock that moves only when a test advances it."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds

    @property
    def clock(self) -> Clock:
        """The program's clock, on this time."""
        return Clock(time=self, monotonic=self, random=lambda: 0.5)


@dataclass
class FakeSleep:
    """Pauses that take no time; they advance the clock and are recorded."""

    clock: FakeClock = field(default_factory=FakeClock)
    pauses: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.advance(seconds)


@dataclass
class FakeProvider:
    """A provider that returns its outcomes in turn; the last one repeats."""

    name: str
    outcomes: list[tuple[Hit, ...] | ProviderResults | Exception]
    queries: list[Query] = field(default_factory=list)
    allowed_s: list[float] = field(default_factory=list)
    """Seconds that each call was given."""

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        self.queries.append(query)
        self.allowed_s.append(deadline.remaining_s())
        outcome = self.outcomes[min(len(self.queries), len(self.outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome if isinstance(outcome, ProviderResults) else ProviderResults(outcome)


@dataclass(frozen=True)
class FakeSecret:
    """A key that is visible in its repr, so that a test notices code that prints it."""

    value: str

    def get_secret_value(self) -> str:
        return self.value


Reply = httpx2.Response | Exception | Callable[[httpx2.Request], httpx2.Response]


@dataclass
class FakeApi:
    """Vendors' servers behind one client: replies by host, in turn; the last one repeats."""

    replies: dict[str, list[Reply]]
    requests: list[httpx2.Request] = field(default_factory=list)

    @property
    def hosts(self) -> list[str]:
        """The hosts that were called, in order."""
        return [request.url.host for request in self.requests]

    def client(self, *, follow_redirects: bool = False) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=httpx2.MockTransport(self.handle),
            follow_redirects=follow_redirects,
            trust_env=False,
        )

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        replies = self.replies[request.url.host]
        reply = replies[min(self.hosts.count(request.url.host), len(replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, httpx2.Response) else reply(request)


@dataclass
class LoopbackServer:
    """A real server on loopback with the same reply for every request."""

    port: int
    received: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def loopback_server(reply: bytes) -> AsyncIterator[LoopbackServer]:
    """Serve `reply` once for each connection, while the block runs."""

    async def serve(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            server.received.append(await stream.receive())
            await stream.send(reply)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # not Django
        server = LoopbackServer(port)
        tasks.start_soon(listener.serve, serve)
        yield server
        tasks.cancel_scope.cancel()


def built(
    spec: ProviderSpec, client: httpx2.AsyncClient, key: Secret, base_url: str | None = None
) -> SearchProvider:
    """A provider of the catalogue with `key` as its key; it is served at `base_url`."""
    plain = {"text": "engine-1", "flag": "1", "addresses": base_url or "https://searxng.example"}
    values: dict[str, Secret] = {
        need.name: FakeSecret(plain[need.kind]) if need.kind in plain else key
        for need in spec.needs
    }
    access = Access(
        VendorApi(client, spec), base_url or spec.base_url, values, SYSTEM_CLOCK, MemoryState()
    )
    return spec.build(access)


def hit(url: str, provider: str = "fake", published: str | None = None) -> Hit:
    """A hit of which only the address and the date matter."""
    return Hit("A title", url, "A snippet.", provider, published)


def provider_answer(provider: str, name: str) -> dict[str, object]:
    """A stored answer of a vendor."""
    text = (PROVIDER_DATA / provider / f"{name}.json").read_text(encoding="utf-8")
    answer: dict[str, object] = json.loads(text)
    return answer


def sent_json(request: httpx2.Request) -> dict[str, object]:
    """The body that was sent."""
    body: dict[str, object] = json.loads(request.content)
    return body
