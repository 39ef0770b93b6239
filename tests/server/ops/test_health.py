"""`/health`, `/ready` and `/metrics`, on an app of fakes and with the real access control."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from starlette.applications import Starlette

import kindly
from kindly.app import App, open_app
from kindly.concurrency.call_limit import CallLimit
from kindly.errors import StoreUnavailable
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.redact import Redactor
from kindly.search.provider_stats import ProviderStatus
from kindly.server.http.asgi import build_http_app
from kindly.server.mcp import build_server
from kindly.server.ops import health
from kindly.server.ops.health import LibrarySize
from kindly.server.profiles import load_profile
from kindly.server.server_state import ServerState
from kindly.settings import Settings
from kindly.stages import Stages
from tests.support.fakes import FakeClock
from tests.support.prometheus_text import value

pytestmark = pytest.mark.anyio

TOKEN = "canary-operations-token"


async def memory() -> Store:
    return open_store("memory", StoreSettings(None))


async def unreachable() -> Store:
    raise StoreUnavailable("The library cannot be reached.")


async def hanging() -> Store:
    raise TimeoutError


def an_app(**changes: object) -> App:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # nothing is called here
    fields: dict[str, object] = {
        "call_limit": CallLimit(1),
        "library_store": memory,
        "provider_status": lambda: (ProviderStatus("serper", 3),),
    }
    return App(stages, Redactor.of([]), 1000, 1000, 5, **(fields | changes))  # type: ignore[arg-type]


def state_of(app: App) -> ServerState:
    return ServerState("kindly", {}, lambda: app)


@asynccontextmanager
async def asking(app: App | None) -> AsyncIterator[httpx2.AsyncClient]:
    state = ServerState("kindly", {}, lambda: app)
    pages = Starlette(routes=health.routes(state, LibrarySize(state)))
    transport = httpx2.ASGITransport(app=pages)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def test_health_reports_the_version() -> None:
    async with asking(None) as client:
        answer = await client.get("/health")
    assert answer.json() == {"status": "ok", "version": kindly.__version__}


async def test_it_is_ready_when_calls_are_accepted() -> None:
    async with asking(an_app()) as client:
        answer = await client.get("/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        (None, "closed"),
        (an_app(library_store=unreachable), "store"),
        (an_app(library_store=hanging), "store"),
    ],
    ids=["not open", "library out of reach", "library does not answer"],
)
async def test_readiness_reports_a_reason(app: App | None, reason: str) -> None:
    async with asking(app) as client:
        answer = await client.get("/ready")
    assert answer.status_code == 503
    assert answer.json() == {"status": "unavailable", "reason": reason}


async def test_it_is_not_ready_at_the_call_limit() -> None:
    app = an_app()
    async with asking(app) as client:
        async with app.call_limit.slot():
            full = await client.get("/ready")
        free = await client.get("/ready")
    assert full.json()["reason"] == "full"
    assert free.status_code == 200


async def test_a_server_without_a_library_is_ready() -> None:
    async with asking(an_app(library_store=None)) as client:
        assert (await client.get("/ready")).status_code == 200


async def test_the_state_of_the_library_is_cached() -> None:
    clock, checks = FakeClock(), []

    async def opened() -> Store:
        checks.append(clock.now)
        return await memory()

    library = LibrarySize(state_of(an_app(library_store=opened)), clock)
    for _ in range(3):
        assert await library.is_up()
        assert await library.stats() is not None
    clock.advance(60)
    await library.is_up()
    await library.stats()
    assert checks == [1000, 1000, 1060, 1060]


async def test_metrics_are_what_prometheus_reads() -> None:
    async with asking(an_app()) as client:
        answer = await client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert value(answer.text, "kindly_provider_calls_total", provider="serper") == 3
    assert value(answer.text, "kindly_library_pages") == 0
    assert value(answer.text, "kindly_calls_in_flight") == 0
    assert value(answer.text, "kindly_info", version=kindly.__version__) == 1


@pytest.mark.parametrize(
    "library", [unreachable, hanging, None], ids=["out of reach", "does not answer", "none"]
)
async def test_metrics_work_without_the_library(library: object) -> None:
    async with asking(an_app(library_store=library)) as client:
        answer = await client.get("/metrics")
    assert value(answer.text, "kindly_library_up") == 0


async def test_nothing_is_counted_before_it_is_open() -> None:
    async with asking(None) as client:
        answer = await client.get("/metrics")
    assert (answer.status_code, answer.text) == (200, "\n")


@asynccontextmanager
async def with_access_control(folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """The whole HTTP application with a token, opened as a server would."""
    settings = Settings.load({"KINDLY_HTTP_TOKEN": TOKEN, "DATA_DIR": str(folder)})
    server = build_server(lambda: open_app(settings), load_profile("kindly"))
    transport = httpx2.ASGITransport(app=build_http_app(server, settings))
    async with (
        server.lifespan(server),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        yield client


async def test_health_and_readiness_are_open_and_metrics_are_not(tmp_path: Path) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with anyio.fail_after(120):
        async with with_access_control(tmp_path) as client:
            statuses = [
                (await client.get(path)).status_code for path in ("/health", "/ready", "/metrics")
            ]
            allowed = await client.get("/metrics", headers=bearer)
            foreign = await client.get("/metrics", headers=bearer | {"Host": "evil.example"})
    assert statuses == [200, 200, 401]
    assert value(allowed.text, "kindly_library_up") == 1
    assert foreign.status_code == 421
    assert TOKEN not in allowed.text


async def test_a_closed_server_is_not_ready(tmp_path: Path) -> None:
    settings = Settings.load({"DATA_DIR": str(tmp_path)})
    server = build_server(lambda: open_app(settings), load_profile("kindly"))
    async with server.lifespan(server):
        opened = server.state.current_app()
    assert opened is not None
    assert server.state.current_app() is None
