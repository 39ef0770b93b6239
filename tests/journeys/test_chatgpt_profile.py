"""Profile `chatgpt` through a real client: search, then fetch by id, over restarts, in parts, over HTTP with OAuth."""

import json
import time
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.support.processes import http_server
from tests.support.served_world import (
    BOTH,
    GUIDE,
    as_json,
    calling,
    environment,
    serper,
    text_of,
)
from tests.support.site import Site, html

pytestmark = pytest.mark.anyio


def settings(site: Site, folder: Path, **more: str) -> dict[str, str]:
    return environment(site, folder, **BOTH, KINDLY_PROFILE="chatgpt", **more)


def data(answer: CallToolResult) -> dict[str, Any]:
    """The answer's object, which its one text item repeats as JSON."""
    structured = answer.structured_content
    assert structured is not None, text_of(answer)
    assert json.loads(text_of(answer)) == structured
    return dict(structured)


async def test_a_result_of_search_is_read_by_its_id_in_exact_shapes(
    site: Site, tmp_path: Path
) -> None:
    url = site.url("/article")
    site.add("/serper/search", serper([url, site.url("/other")]))
    async with calling(settings(site, tmp_path)) as call:
        found = data(await call("search", query="bees"))
        page = data(await call("fetch", id=found["results"][0]["id"]))
    assert found == {
        "results": [
            {"id": url, "title": "Result 1", "url": url},
            {"id": site.url("/other"), "title": "Result 2", "url": site.url("/other")},
        ]
    }
    assert set(page) == {"id", "title", "text", "url", "metadata"}
    assert (page["id"], page["url"], page["title"]) == (url, url, "How bees find flowers")
    assert "ultraviolet" in page["text"]
    assert all(isinstance(value, str) for value in page["metadata"].values())


async def test_search_reads_no_page(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    async with calling(settings(site, tmp_path)) as call:
        await call("search", query="bees")
    assert site.count("/article") == 0


async def test_an_id_works_after_a_restart_and_on_another_replica(
    site: Site, tmp_path: Path
) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    async with calling(settings(site, tmp_path)) as call:
        first = data(await call("search", query="bees"))
    for folder in (tmp_path, tmp_path / "replica"):
        async with calling(settings(site, folder)) as call:
            assert data(await call("search", query="bees")) == first
            page = data(await call("fetch", id=first["results"][0]["id"]))
        assert "ultraviolet" in page["text"]


async def test_a_long_document_goes_on_at_its_next_id_after_a_restart(
    site: Site, tmp_path: Path
) -> None:
    url = site.add("/guide", html(f"<main>{GUIDE}</main>"))
    limits = settings(site, tmp_path, KINDLY_MAX_TOKENS="1500")
    texts, wanted = [], url
    while wanted:
        async with calling(limits) as call:
            page = data(await call("fetch", id=wanted))
        assert (page["id"], page["url"]) == (wanted, url)
        texts.append(page["text"])
        wanted = page["metadata"].get("next_id", "")
    assert len(texts) > 2
    assert "at most 4096 widgets" in " ".join(texts)
    assert site.count("/guide") == 1


async def test_nothing_found_is_an_empty_list(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([]))
    async with calling(settings(site, tmp_path)) as call:
        assert data(await call("search", query="bees")) == {"results": []}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("doc-42", "id must be an id of a search result"),
        ("/missing", "Not read (not_found)"),
        ("http://169.254.169.254/", "Not read (refused)"),
    ],
)
async def test_what_cannot_be_read_is_an_error_in_words(
    site: Site, tmp_path: Path, wanted: str, said: str
) -> None:
    async with calling(settings(site, tmp_path)) as call:
        answer = await call("fetch", id=site.url(wanted) if wanted[0] == "/" else wanted)
    assert answer.is_error
    assert said in text_of(answer)


async def test_it_is_served_over_http_with_oauth(site: Site, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    issuer, audience = site.url("/login"), "https://search.example/mcp"
    place = "/.well-known/oauth-authorization-server/login"
    site.add(place, as_json({"issuer": issuer, "jwks_uri": site.url("/keys")}))
    site.add("/keys", as_json({"keys": [{**public, "kid": "one"}]}))
    site.add("/serper/search", serper([site.url("/article")]))
    oauth = {"KINDLY_OAUTH_ISSUER": issuer, "KINDLY_OAUTH_AUDIENCE": audience}
    made = {"iss": issuer, "aud": audience, "exp": int(time.time()) + 300}
    token = jwt.encode(made, key, "ES256", {"kid": "one"})
    with http_server(settings(site, tmp_path, **oauth)) as address, anyio.fail_after(120):
        async with (
            httpx2.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {token}"}) as wire,
            Client(streamable_http_client(address, http_client=wire)) as client,
        ):
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = data(await client.call_tool("search", {"query": "bees"}))
            page = data(await client.call_tool("fetch", {"id": found["results"][0]["id"]}))
        async with httpx2.AsyncClient(timeout=60) as wire:
            assert (await wire.post(address, json={})).status_code == 401
    assert tools == ["search", "fetch"]
    assert "ultraviolet" in page["text"]
