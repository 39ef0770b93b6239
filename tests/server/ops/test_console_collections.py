"""The console's API for collections, with a real library and a site on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from kindly.app import App, open_app
from kindly.server.ops import console
from kindly.server.ops.health import LibrarySize
from kindly.server.server_state import ServerState
from kindly.settings import Settings
from tests.support.docs_site import DocsSite
from tests.support.served_world import environment
from tests.support.site import Site

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def asking(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    state = ServerState("kindly", {}, lambda: app)
    routes = console.routes(state, LibrarySize(state))
    transport = httpx2.ASGITransport(app=Starlette(routes=routes))
    base = "http://127.0.0.1/console/api/"
    async with httpx2.AsyncClient(transport=transport, base_url=base) as client:
        yield client


async def data(answer: httpx2.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_collection_is_listed_asked_and_compared(site: Site, tmp_path: Path) -> None:
    docs = DocsSite(site, 3)
    settings = Settings.load(environment(site, tmp_path))
    async with open_app(settings) as app, asking(app) as client:
        assert app.open_indexer is not None
        indexer = app.open_indexer()
        await indexer.begin(docs.start, "docs@1")
        (begun,) = (await data(await client.get("collections")))["collections"]
        assert (begun["state"], begun["total"], begun["running"]) == ("discovering", 0, False)
        await indexer.run("docs@1")
        (done,) = (await data(await client.get("collections")))["collections"]
        assert (done["collection"], done["pages"], done["done"], done["total"]) == (
            *("docs@1", 4),
            *(4, 4),
        )
        assert done["size_bytes"] > 0
        asked = {"collection": "docs", "question": "What is widget 2 about?"}
        finding = (await data(await client.post("ask", json=asked)))["finding"]
        assert finding["passages"][0]["url"] == docs.addresses[2]
        assert "<<<web-page" not in str(finding)
        docs.change(1)
        await indexer.run("docs@1", refresh=True)
        changes = (await data(await client.get("changes?collection=docs")))["changes"]
        assert [one["url"] for one in changes["changed"]] == [docs.addresses[1]]
        pages = (await data(await client.get("library")))["pages"]
        stored = await data(await client.get("page", params={"key": pages[0]["key"]}))
        assert stored["page"]["collection"] == "docs@1"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "ask", {"collection": "docs"}, 400),
        ("POST", "ask", {"collection": "docs", "question": " "}, 400),
        ("POST", "ask", {"collection": "unknown", "question": "x"}, 400),
        ("GET", "changes?collection=unknown", None, 400),
        ("GET", "changes?collection=docs&since=never", None, 400),
    ],
)
async def test_a_wrong_request_is_refused(
    site: Site, tmp_path: Path, method: str, path: str, body: object, status: int
) -> None:
    async with open_app(Settings.load(environment(site, tmp_path))) as app, asking(app) as client:
        answer = await client.request(method, path, json=body)
        assert answer.status_code == status
        assert answer.json()["error"]


async def test_a_server_without_a_library_says_so(site: Site, tmp_path: Path) -> None:
    async with open_app(Settings.load(environment(site, tmp_path))) as app:
        bare = replace(app, library_store=None, background=None)
        async with asking(bare) as client:
            answer = await client.get("collections")
    assert (answer.status_code, "not set up" in answer.json()["error"]) == (503, True)
