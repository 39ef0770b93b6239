"""The console: its page, its Content-Security-Policy, and its API."""

import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

import kindly
from kindly.app import App, open_app
from kindly.concurrency.call_limit import CallLimit
from kindly.errors import InputError, StoreUnavailable
from kindly.models import Chunk, StoredPageInfo
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.redact import Redactor
from kindly.search.provider_stats import Failure, ProviderStatus
from kindly.search.rate_limits import Quota
from kindly.server.arguments import Arguments
from kindly.server.http.asgi import build_http_app
from kindly.server.mcp import build_server
from kindly.server.ops import console
from kindly.server.ops.health import LibrarySize
from kindly.server.profiles import load_profile
from kindly.server.server_state import ServerState
from kindly.server.tool import Call, Output, Tool
from kindly.settings import Settings
from kindly.stages import Stages

pytestmark = pytest.mark.anyio

CANARY = "canary-console-secret"
QUESTION = "a private question"


class Word(Arguments):
    """One word."""

    word: str


async def echo(call: Call, arguments: Word) -> Output:
    if arguments.word == "wrong":
        raise InputError("word is wrong.", field="word")
    return Output(f"{arguments.word} {CANARY}", {"word": arguments.word})


TOOLS = {"echo": Tool("echo", "Echo", "Says it again.", Word, {"type": "object"}, echo)}


async def shelves() -> Store:
    store = open_store("memory", StoreSettings(None))
    for number in range(console.PAGES_AT_ONCE + 1):
        url = f"https://example.com/{number}"
        moment = datetime(2026, 1, 1, 0, number // 60, number % 60, tzinfo=UTC)
        entry = StoredPageInfo(url, f"Page {number} {CANARY}", moment, "hash", 11)
        chunk = Chunk(f"id{number}", url, "Hello <b>you</b>", 0, 11, ("Top", "Sub"), 4)
        await store.put(entry, [chunk], {}, None)
    return store


async def unreachable() -> Store:
    raise StoreUnavailable("The library cannot be reached.")


def an_app(**changes: object) -> App:
    stages = Stages(None, None, None)  # type: ignore[arg-type]  # nothing is called here
    status = ProviderStatus(
        "serper", 9, {"timeout": 2}, 120, 800, Quota(40, 100), Failure("timeout", 5.0)
    )
    fields: dict[str, object] = {"library_store": shelves, "provider_status": lambda: (status,)}
    made: Any = fields | changes
    return App(stages, Redactor.of([CANARY]), 1000, 1000, 5, **made)


@asynccontextmanager
async def asking(app: App | None) -> AsyncIterator[httpx2.AsyncClient]:
    state = ServerState("kindly", TOOLS, lambda: app)
    transport = httpx2.ASGITransport(
        app=Starlette(routes=console.routes(state, LibrarySize(state)))
    )
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def test_the_page_loads_nothing_from_other_origins() -> None:
    async with asking(None) as client:
        html = (await client.get("/console")).text
    outside = re.findall(r"""(?:src|href|action|url)\s*[=(]\s*["']?(?!data:,|#)[\w./:]+""", html)
    assert outside == []
    assert "@import" not in html
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", html)
    assert not re.search(r"\sstyle=|\son\w+=", html)


async def test_the_policy_lets_only_the_pages_own_script_and_style_run() -> None:
    async with asking(None) as client:
        answer = await client.get("/console")
    policy = answer.headers["content-security-policy"]
    (script,) = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_tools_are_listed_as_clients_see_them() -> None:
    async with asking(an_app()) as client:
        result = (await client.get("/console/api/tools")).json()
    assert result == {
        "version": kindly.__version__,
        "profile": "kindly",
        "tools": [
            {
                "name": "echo",
                "title": "Echo",
                "description": "Says it again.",
                "input_schema": Word.schema_for_clients(),
            }
        ],
    }


async def test_a_call_shows_what_a_model_would_get_and_how_large_it_is() -> None:
    request = {"tool": "echo", "arguments": {"word": "hello"}}
    async with asking(an_app()) as client:
        answer = await client.post("/console/api/call", json=request)
    result = answer.json()
    assert result.pop("took_ms") >= 0
    assert result == {
        "failed": False,
        "text": "hello ***",
        "structured": {"word": "hello"},
        "text_tokens": 3,
        "structured_tokens": 4,
    }
    assert answer.headers["cache-control"] == "no-store"


async def test_a_call_that_fails_is_shown_as_failed() -> None:
    request = {"tool": "echo", "arguments": {"word": "wrong"}}
    async with asking(an_app()) as client:
        result = (await client.post("/console/api/call", json=request)).json()
    assert result["failed"]
    assert result["text"] == "word is wrong."
    assert (result["structured"], result["structured_tokens"]) == (None, 0)


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b'{"tool": "nope", "arguments": {}}', "application/json", 404),
        (b'{"tool": "echo"}', "application/json", 400),
        (b'{"tool": 1, "arguments": {}}', "application/json", 400),
        (b"[]", "application/json", 400),
        (b"{", "application/json", 400),
        (b'{"tool": "echo", "arguments": {}}', "text/plain", 415),
    ],
    ids=["no such tool", "no arguments", "odd name", "a list", "no JSON", "not sent as JSON"],
)
async def test_a_malformed_call_is_refused(body: bytes, content_type: str, status: int) -> None:
    async with asking(an_app()) as client:
        answer = await client.post(
            "/console/api/call", content=body, headers={"Content-Type": content_type}
        )
    assert answer.status_code == status
    assert answer.json()["error"].endswith(".")


async def test_the_library_is_paged_with_the_latest_first() -> None:
    store = await shelves()

    async def opened() -> Store:
        return store

    async with asking(an_app(library_store=opened)) as client:
        first = (await client.get("/console/api/library")).json()
        rest = (await client.get("/console/api/library?offset=100")).json()
    assert [one["url"] for one in first["pages"][:2]] == [
        "https://example.com/100",
        "https://example.com/99",
    ]
    assert (len(first["pages"]), first["more"]) == (100, True)
    assert (len(rest["pages"]), rest["more"]) == (1, False)
    assert first["pages"][0]["title"] == "Page 100 ***"
    assert first["library"]["pages"] == 101


async def test_a_page_of_the_library_is_shown_with_its_chunks() -> None:
    async with asking(an_app()) as client:
        result = await client.get("/console/api/page", params={"key": "https://example.com/3"})
        none = await client.get("/console/api/page", params={"key": "https://example.com/x"})
    page = result.json()["page"]
    assert page["chunks"] == [{"text": "Hello <b>you</b>", "section": ["Top", "Sub"], "tokens": 4}]
    assert page["characters"] == 11
    assert none.status_code == 404


@pytest.mark.parametrize("offset", ["-1", "x", "1" * 20, "²"])
async def test_an_offset_that_is_no_number_is_refused(offset: str) -> None:
    async with asking(an_app()) as client:
        answer = await client.get("/console/api/library", params={"offset": offset})
    assert answer.status_code == 400


@pytest.mark.parametrize("library", [unreachable, None], ids=["out of reach", "none"])
async def test_an_unreachable_library_is_reported_in_a_sentence(library: object) -> None:
    async with asking(an_app(library_store=library)) as client:
        answer = await client.get("/console/api/library")
        state = (await client.get("/console/api/state")).json()
    assert answer.status_code == 503
    assert answer.json()["error"].endswith(".")
    assert state["library"] is None


async def test_the_state_has_counts_and_names_but_not_what_was_asked() -> None:
    async with asking(an_app()) as client:
        request = {"tool": "echo", "arguments": {"word": QUESTION}}
        await client.post("/console/api/call", json=request)
        answer = await client.get("/console/api/state")
    state = answer.json()
    assert state["calls"] == 1
    assert [(call["tool"], call["outcome"]) for call in state["recent"]] == [("echo", "ok")]
    assert state["slots"][-1]["calls"] == 1
    assert state["providers"] == [
        {
            "name": "serper",
            "health": "closed",
            "calls": 9,
            "failures": 2,
            "last_failure": {"kind": "timeout", "at": 5.0},
            "p50_ms": 120,
            "p95_ms": 800,
            "quota": {"left": 40, "limit": 100, "reset_at": None},
        }
    ]
    assert state["library"]["pages"] == 101
    assert QUESTION not in answer.text


async def test_a_call_above_the_limit_is_counted_as_busy() -> None:
    app = an_app(call_limit=CallLimit(1, wait_s=0))
    request = {"tool": "echo", "arguments": {"word": "hello"}}
    async with asking(app) as client:
        async with app.call_limit.slot():
            result = (await client.post("/console/api/call", json=request)).json()
        state = (await client.get("/console/api/state")).json()
    assert result["failed"]
    assert state["busy"] == 1
    assert state["recent"][0]["outcome"] == "busy"


async def test_before_it_is_open_the_console_says_so() -> None:
    async with asking(None) as client:
        answer = await client.get("/console/api/state")
    assert answer.status_code == 503


async def test_the_page_is_public_and_its_api_needs_a_token(tmp_path: Path) -> None:
    environ = {"KINDLY_HTTP_TOKEN": "canary-token", "DATA_DIR": str(tmp_path)}
    settings = Settings.load(environ)
    server = build_server(lambda: open_app(settings), load_profile("kindly"))
    transport = httpx2.ASGITransport(app=build_http_app(server, settings))
    bearer = {"Authorization": "Bearer canary-token"}
    async with (
        server.lifespan(server),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        page = await client.get("/console")
        rebound = await client.get("/console", headers={"Host": "evil.example"})
        paths = ("tools", "state", "library", "page")
        closed = [(await client.get(f"/console/api/{path}")).status_code for path in paths]
        closed.append((await client.post("/console/api/call", json={})).status_code)
        allowed = await client.get("/console/api/state", headers=bearer)
        foreign = await client.post(
            "/console/api/call", json={}, headers=bearer | {"Origin": "http://evil.example"}
        )
    assert (page.status_code, rebound.status_code) == (200, 421)
    assert closed == [401] * 5
    assert allowed.status_code == 200
    assert foreign.status_code == 403
