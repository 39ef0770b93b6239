"""The HTTP client for APIs: redirects, proxies, log lines."""

import logging
import subprocess
import sys

import anyio
import httpx2
import pytest

from kindly.errors import SettingsError
from kindly.net.api_client import WIRE_LOGGERS, Proxies, build_client, silence_wire_loggers
from tests.support.fakes import loopback_server

pytestmark = pytest.mark.anyio

PROXY = "http://user:canary-proxy-password@proxy.example:3128"


async def test_client_follows_no_redirect_and_ignores_the_environment() -> None:
    async with build_client(timeout_s=7, user_agent="kindly-test") as client:
        assert client.follow_redirects is False
        assert client.trust_env is False
        assert client.timeout == httpx2.Timeout(7)
        assert client.headers["User-Agent"] == "kindly-test"


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("https://api.example/", True),
        ("http://api.example/", False),
        ("https://corp.example/", False),
        ("https://a.corp.example/", False),
        ("https://notcorp.example/", True),
        ("https://sub.dotted.example/", False),
        ("https://localhost/", False),
        ("https://127.0.0.1/", False),
        ("https://10.1.2.3/", False),
        ("https://11.1.2.3/", True),
        ("https://[::1]/", False),
        ("https://[fd00::5]/", False),
        ("https://[2001:db8::1]/", True),
    ],
)
async def test_https_uses_the_proxy_except_for_named_hosts(url: str, proxied: bool) -> None:
    no_proxy = (
        "corp.example",
        ".dotted.example",
        "localhost",
        "127.0.0.1",
        "10.0.0.0/8",
        "[::1]",
        "fd00::/8",
    )
    async with build_client(
        timeout_s=1, user_agent="x", proxies=Proxies(PROXY, no_proxy=no_proxy)
    ) as client:
        straight = client._transport_for_url(httpx2.URL(url)) is client._transport
        assert straight is not proxied


async def test_the_proxy_gets_the_request_and_its_password() -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    async with loopback_server(reply) as server:
        proxy = f"http://user:word@127.0.0.1:{server.port}"
        async with build_client(timeout_s=5, user_agent="x", proxies=Proxies(http=proxy)) as client:
            with anyio.fail_after(120):
                await client.get("http://api.example/search")
    (request,) = server.received
    assert request.startswith(b"GET http://api.example/search HTTP/1.1\r\n")
    assert b"proxy-authorization: basic dxnlcjp3b3jk" in request.lower()


async def test_plain_http_uses_the_http_proxy() -> None:
    async with build_client(timeout_s=1, user_agent="x", proxies=Proxies(http=PROXY)) as client:
        for url, proxied in (("http://api.example/", True), ("https://api.example/", False)):
            straight = client._transport_for_url(httpx2.URL(url)) is client._transport
            assert straight is not proxied


async def test_a_star_in_no_proxy_disables_proxies() -> None:
    async with build_client(
        timeout_s=1, user_agent="x", proxies=Proxies(PROXY, no_proxy=("a.example", "*"))
    ) as client:
        assert client._transport_for_url(httpx2.URL("https://api.example/")) is client._transport


@pytest.mark.parametrize(
    ("proxy", "no_proxy"),
    [
        ("gopher://user:canary-proxy-password@proxy.example", ()),
        ("http://user:canary-proxy-password@[::1", ()),
        (PROXY, ("10.0.0.0/99",)),
    ],
)
def test_unusable_proxy_is_a_settings_error_without_its_password(
    proxy: str, no_proxy: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as caught:
        build_client(timeout_s=1, user_agent="x", proxies=Proxies(proxy, no_proxy=no_proxy))
    assert "HTTPS_PROXY" in str(caught.value)
    assert caught.value.__context__ is None


def test_the_librarys_loggers_pass_warnings_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    silence_wire_loggers()
    silence_wire_loggers()
    for name in WIRE_LOGGERS:
        caplog.set_level(logging.DEBUG, logger=name)
        logging.getLogger(name).info("quiet")
        logging.getLogger(name).warning("loud")
    assert [record.message for record in caplog.records] == ["loud"] * len(WIRE_LOGGERS)
    assert all(len(logging.getLogger(name).filters) == 1 for name in WIRE_LOGGERS)


def test_providers_router_and_client_import_no_http_library() -> None:
    code = (
        "import sys, kindly.net.api_client, kindly.search.providers, kindly.search.router\n"
        "sys.exit(' '.join({'httpx2', 'httpcore2', 'ssl'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stderr == "\n"
