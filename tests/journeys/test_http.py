"""The server over HTTP: stateless, guarded by Host, Origin and token."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client

from kindly.app import open_app
from kindly.errors import SettingsError
from kindly.server.http import build_http_app
from kindly.server.mcp import build_server
from kindly.server.profiles import PROFILES
from kindly.settings import Settings
from tests.journeys.test_stdio import SCRIPT, inherited
from tests.journeys.world import BOTH, environment, serper, text_of
from tests.site import Site

pytestmark = pytest.mark.anyio


@contextmanager
def http_server(environ: dict[str, str]) -> Iterator[str]:
    """The console script with the HTTP transport on a free port; gives its address."""
    process = subprocess.Popen(
        [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", "0"],
        env=inherited(environ),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = json.loads(process.stderr.readline())
        match = re.search(r"http://\S+", line["event"])
        assert match is not None
        yield match[0]
    finally:
        process.terminate()
        process.communicate(timeout=10)


async def test_two_clients_search_over_http(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    with http_server(environment(site, tmp_path, **BOTH)) as address, anyio.fail_after(60):
        for mode in ("auto", "legacy"):
            async with Client(address, mode=mode) as client:
                result = await client.call_tool("web_search", {"query": "bees"})
            assert "ultraviolet" in text_of(result)


async def test_foreign_hosts_and_origins_are_turned_away(site: Site, tmp_path: Path) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json, text/event-stream"}
    with http_server(environment(site, tmp_path)) as address:
        async with httpx2.AsyncClient(headers=headers) as client:
            own = await client.get(address.replace("/mcp", "/health"))
            foreign_host = await client.post(address, json=ping, headers={"Host": "evil.example"})
            foreign_origin = await client.post(
                address, json=ping, headers={"Origin": "http://evil.example"}
            )
    assert own.json()["status"] == "ok"
    assert foreign_host.status_code == 421
    assert foreign_origin.status_code == 403


async def test_with_a_token_nobody_else_is_served(site: Site, tmp_path: Path) -> None:
    token = "canary-http-token"
    with http_server(environment(site, tmp_path, KINDLY_HTTP_TOKEN=token)) as address:
        async with httpx2.AsyncClient() as client:
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


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"KINDLY_HOST": "0.0.0.0"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "192.0.2.1"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "search.corp"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "0.0.0.0", "KINDLY_HTTP_TOKEN": "secret-token"}, "KINDLY_ALLOWED_HOSTS"),
    ],
    ids=["every address", "an address", "a name", "every address with token"],
)
def test_beyond_loopback_it_refuses_to_start_unguarded(environ: dict[str, str], named: str) -> None:
    settings = Settings.load(environ)
    server = build_server(lambda: open_app(settings), PROFILES[0])
    with pytest.raises(SettingsError) as caught:
        build_http_app(server, settings)
    assert named in caught.value.detail


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_loopback_it_needs_no_token(host: str) -> None:
    settings = Settings.load({"KINDLY_HOST": host})
    server = build_server(lambda: open_app(settings), PROFILES[0])
    assert callable(build_http_app(server, settings))


def test_a_port_in_use_is_named(site: Site) -> None:
    done = subprocess.run(
        [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", str(site.port)],
        env=inherited({}),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    assert "KINDLY_PORT" in done.stderr
    assert sys.executable not in done.stderr
