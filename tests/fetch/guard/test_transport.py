"""The SSRF guard for API clients."""

import httpcore2
import httpx2
import pytest

from kindly.errors import AddressRefused
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.fetch.guard.transport import GuardedTransport
from kindly.net.tls import Tls
from tests.support.fetch_fakes import FakeResolver
from tests.support.site import running_site

pytestmark = pytest.mark.anyio


async def get(url: str, policy: GuardPolicy, dns: dict[str, list[list[str]]]) -> httpx2.Response:
    guard = Guard(policy, FakeResolver(dns))
    transport = GuardedTransport(guard, await Tls().context())
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
        return await client.get(url)


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://inside.example.com/"])
async def test_private_addresses_are_refused_at_the_dial(url: str) -> None:
    with pytest.raises(AddressRefused):
        await get(url, GuardPolicy(), {"inside.example.com": [["192.168.0.1"]]})


async def test_an_opened_host_is_reached_under_its_own_name() -> None:
    async with running_site() as site:
        policy = GuardPolicy(allow_private=("wiki.corp",))
        url = f"http://wiki.corp:{site.port}/plain"
        response = await get(url, policy, {"wiki.corp": [["127.0.0.1"]]})
    assert response.text == "How bees find flowers\n"
    assert site.requests[0].headers["host"] == f"wiki.corp:{site.port}"


async def test_httpx2_still_keeps_its_connections_where_the_guard_replaces_them() -> None:
    transport = httpx2.AsyncHTTPTransport()
    assert isinstance(transport._pool, httpcore2.AsyncConnectionPool)
    await transport.aclose()
