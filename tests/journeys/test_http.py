"""The server over HTTP: stateless, guarded by Host, Origin, tokens and limits."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import anyio
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from kindly.app import open_app
from kindly.errors import SettingsError
from kindly.server.http.asgi import build_http_app
from kindly.server.mcp import build_server
from kindly.server.profiles import load_profile
from kindly.settings import Settings
from tests.support.processes import PATIENCE_S, SCRIPT, child_environment, http_server
from tests.support.served_world import BOTH, as_json, environment, serper, text_of
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_two_clients_search_over_http(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    with http_server(environment(site, tmp_path, **BOTH)) as address, anyio.fail_after(120):
        for mode in ("auto", "legacy"):
            async with Client(address, mode=mode) as client:
                result = await client.call_tool("web_search", {"query": "bees"})
            assert "ultraviolet" in text_of(result)


async def test_foreign_hosts_and_origins_are_turned_away(site: Site, tmp_path: Path) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json, text/event-stream"}
    with http_server(environment(site, tmp_path)) as address:
        async with httpx2.AsyncClient(timeout=60, headers=headers) as client:
            own = await client.get(address.replace("/mcp", "/health"))
            foreign_host = await client.post(address, json=ping, headers={"Host": "evil.example"})
            foreign_origin = await client.post(
                address, json=ping, headers={"Origin": "http://evil.example"}
            )
    assert own.json()["status"] == "ok"
    assert foreign_host.status_code == 421
    assert foreign_origin.status_code == 403


async def test_with_a_token_no_other_client_is_served(site: Site, tmp_path: Path) -> None:
    token = "canary-http-token"
    with http_server(environment(site, tmp_path, KINDLY_HTTP_TOKEN=token)) as address:
        async with httpx2.AsyncClient(timeout=60) as client:
            without = await client.post(address, json={})
            wrong = await client.post(address, json={}, headers={"Authorization": "Bearer x"})
            right = await client.post(
                address, json={}, headers={"Authorization": f"Bearer {token}"}
            )
            health = await client.get(address.replace("/mcp", "/health"))
    assert (without.status_code, wrong.status_code) == (401, 401)
    assert right.status_code not in {401, 403, 421}
    assert health.status_code == 200
    assert token not in without.text + wrong.text


async def test_no_token_is_in_the_log(tmp_path: Path) -> None:
    settings = {"KINDLY_HTTP_TOKEN": "canary-one\ncanary-two", "KINDLY_LOG_LEVEL": "debug"}
    logged: list[str] = []
    with http_server({"DATA_DIR": str(tmp_path), **settings}, logged) as address:
        async with httpx2.AsyncClient(timeout=60) as client:
            for token in ("canary-one", "canary-two", "canary-wrong", "canary and more"):
                headers = {"Authorization": f"Bearer {token}"}
                await client.post(f"{address}?access_token=canary-query", json={}, headers=headers)
                await client.get(address.replace("/mcp", "/canary-path"), headers=headers)
        port = int(address.split(":")[2][:-4])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as wire:
            wire.sendall(b"Authorization: Bearer canary-broken\r\n\r\n")
            assert wire.recv(100).startswith(b"HTTP/1.1 400")
    assert len(logged) >= 1
    assert "canary" not in "".join(logged)


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"KINDLY_HOST": "0.0.0.0"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "192.0.2.1"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "search.corp"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "::"}, "KINDLY_OAUTH_ISSUER"),
        ({"KINDLY_HOST": "0.0.0.0", "KINDLY_HTTP_TOKEN": "secret-token"}, "KINDLY_ALLOWED_HOSTS"),
        ({"KINDLY_HTTP_TOKEN_FILE": "/nowhere/tokens"}, "KINDLY_HTTP_TOKEN_FILE"),
        ({"KINDLY_OAUTH_ISSUER": "https://login.example"}, "KINDLY_OAUTH_AUDIENCE"),
    ],
    ids=[
        "every address",
        "an address",
        "a name",
        "every IPv6 address",
        "every address with token",
        "no such file",
        "half of OAuth",
    ],
)
def test_beyond_loopback_it_refuses_to_start_unguarded(environ: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        http_app(environ)
    assert named in caught.value.detail


def test_refusing_to_start_is_reported_in_one_line() -> None:
    done = subprocess.run(
        [str(SCRIPT), "start-mcp-server", "--transport", "http", "--host", "0.0.0.0"],
        env=child_environment({}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2
    assert "KINDLY_HTTP_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr


def http_app(environ: dict[str, str]) -> ASGIApp:
    settings = Settings.load(environ)
    return build_http_app(
        build_server(lambda: open_app(settings), load_profile("kindly")), settings
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_loopback_it_needs_no_token(host: str) -> None:
    assert callable(http_app({"KINDLY_HOST": host}))


TEAM = {
    "KINDLY_HOST": "0.0.0.0",
    "KINDLY_OAUTH_ISSUER": "https://login.example/",
    "KINDLY_OAUTH_AUDIENCE": "https://search.example/mcp",
    "KINDLY_PUBLIC_URL": "https://search.example/mcp",
}


async def test_a_client_without_a_token_learns_where_to_get_one() -> None:
    async with httpx2.AsyncClient(
        timeout=60,
        transport=httpx2.ASGITransport(http_app(TEAM)),
        base_url="https://search.example",
    ) as client:
        refused = await client.post("/mcp", json={})
        challenge = refused.headers["WWW-Authenticate"]
        place = re.search(r'resource_metadata="([^"]+)"', challenge)
        assert place is not None
        metadata = (await client.get(place[1])).json()
        plain = (await client.get("/.well-known/oauth-protected-resource")).json()
    assert refused.status_code == 401
    assert place[1] == "https://search.example/.well-known/oauth-protected-resource/mcp"
    assert metadata == plain
    assert metadata["resource"] == "https://search.example/mcp"
    assert metadata["authorization_servers"] == ["https://login.example/"]


async def test_a_token_of_the_authorization_server_gets_an_answer(
    site: Site, tmp_path: Path
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    issuer = site.url("/login")
    place = "/.well-known/oauth-authorization-server/login"
    site.add(place, as_json({"issuer": issuer, "jwks_uri": site.url("/keys")}))
    site.add("/keys", as_json({"keys": [{**public, "kid": "one"}]}))
    site.add("/serper/search", serper([site.url("/article")]))
    oauth = {"KINDLY_OAUTH_ISSUER": issuer, "KINDLY_OAUTH_AUDIENCE": "https://search.example/mcp"}
    made = {"iss": issuer, "aud": oauth["KINDLY_OAUTH_AUDIENCE"], "exp": int(time.time()) + 300}
    token = jwt.encode(made, key, "ES256", {"kid": "one"})
    with (
        http_server(environment(site, tmp_path, **BOTH, **oauth)) as address,
        anyio.fail_after(120),
    ):
        for mode in ("auto", "legacy"):
            async with (
                httpx2.AsyncClient(
                    timeout=60, headers={"Authorization": f"Bearer {token}"}
                ) as wire,
                Client(streamable_http_client(address, http_client=wire), mode=mode) as client,
            ):
                result = await client.call_tool("web_search", {"query": "bees"})
            assert "ultraviolet" in text_of(result)
        async with httpx2.AsyncClient(timeout=60) as wire:
            forged = {"Authorization": f"Bearer {token[:-4]}AAAA"}
            assert (await wire.post(address, json={}, headers=forged)).status_code == 401
    assert site.count("/keys") == 1


async def test_tokens_of_a_file_change_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("canary-old\n", encoding="utf-8")
    environ = {"KINDLY_HTTP_TOKEN_FILE": str(file), "KINDLY_RATE_PER_MINUTE": "3"}
    app = http_app(environ)
    async with httpx2.AsyncClient(
        timeout=60, transport=httpx2.ASGITransport(app), base_url="http://localhost"
    ) as client:

        async def status(token: str) -> int:
            headers = {"Authorization": f"Bearer {token}"}
            return (await client.get("/nowhere", headers=headers)).status_code

        assert [await status("canary-old"), await status("canary-new")] == [404, 401]
        file.write_text("canary-old\ncanary-new\n", encoding="utf-8")
        assert [await status("canary-old"), await status("canary-new")] == [404, 404]
        file.write_text("canary-new\n", encoding="utf-8")
        assert [await status("canary-old"), await status("canary-new")] == [401, 404]
        assert [await status("canary-new"), await status("canary-new")] == [404, 429]


@pytest.mark.parametrize(
    ("headers", "size", "status"),
    [
        ({"Host": "evil.example"}, 10, 421),
        ({"Origin": "https://evil.example"}, 10, 403),
        ({"X-Note": "n" * 17_000}, 10, 431),
        ({}, 2_001, 413),
    ],
    ids=["a foreign host", "a foreign page", "large headers", "a large body"],
)
@pytest.mark.parametrize("path", ["/mcp", "/metrics", "/console"])
async def test_limits_hold_for_every_page(
    path: str, headers: dict[str, str], size: int, status: int
) -> None:
    app = http_app({"KINDLY_MAX_REQUEST_BYTES": "2000"})
    async with httpx2.AsyncClient(
        timeout=60, transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000"
    ) as client:
        answer = await client.post(path, content=b"x" * size, headers=headers)
    assert answer.status_code == status


def test_a_port_in_use_is_named(site: Site) -> None:
    done = subprocess.run(
        [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", str(site.port)],
        env=child_environment({}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2
    assert "KINDLY_PORT" in done.stderr
    assert sys.executable not in done.stderr
