"""The ASGI application: the order of its middleware, and the addresses it agrees to serve."""

import httpx2
import pytest

from kindly.app import open_app
from kindly.errors import SettingsError
from kindly.server.http.asgi import build_http_app
from kindly.server.mcp import build_server
from kindly.server.profiles import load_profile
from kindly.settings import Settings
from tests.support.asgi import client_of

pytestmark = pytest.mark.anyio

TOKEN = "canary-asgi-token"


def client(**environ: str) -> httpx2.AsyncClient:
    """A client of an application that is not started: only middleware answers."""
    settings = Settings.load(environ)
    server = build_server(lambda: open_app(settings), load_profile("kindly"))
    return client_of(build_http_app(server, settings))


LARGE = b"x" * 2_000
OURS = {"Host": "127.0.0.1"}
SECURED = {"KINDLY_HTTP_TOKEN": TOKEN, "KINDLY_MAX_REQUEST_BYTES": "1000"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "other.test", "X-Large": "x" * 20_000}, 431),
        ({"Host": "other.test"}, 421),
        (OURS | {"Origin": "https://other.test"}, 403),
        (OURS, 401),
        (OURS | {"Authorization": f"Bearer {TOKEN}"}, 413),
    ],
    ids=["headers first", "then host", "then origin", "then token", "then body"],
)
async def test_middleware_rejects_in_its_order(headers: dict[str, str], status: int) -> None:
    async with client(**SECURED) as http:
        response = await http.post("/mcp", headers=headers, content=LARGE)
    assert response.status_code == status


async def test_the_rate_limit_comes_before_the_body() -> None:
    headers = OURS | {"Authorization": f"Bearer {TOKEN}"}
    async with client(**SECURED, KINDLY_RATE_PER_MINUTE="1") as http:
        statuses = [
            (await http.post("/mcp", headers=headers, content=LARGE)).status_code for _ in range(2)
        ]
    assert statuses == [413, 429]


@pytest.mark.parametrize(
    ("environ", "setting"),
    [
        ({"KINDLY_HOST": "192.0.2.1"}, "KINDLY_HTTP_TOKEN"),
        ({"KINDLY_HOST": "0.0.0.0", "KINDLY_HTTP_TOKEN": TOKEN}, "KINDLY_ALLOWED_HOSTS"),
        ({"KINDLY_HOST": "::", "KINDLY_HTTP_TOKEN": TOKEN}, "KINDLY_ALLOWED_HOSTS"),
    ],
    ids=["no authentication", "every IPv4 address", "every address"],
)
def test_an_unsafe_address_is_refused_with_the_setting_to_fix_it(
    environ: dict[str, str], setting: str
) -> None:
    with pytest.raises(SettingsError, match=setting):
        client(**environ)


@pytest.mark.parametrize(
    ("environ", "host"),
    [
        ({}, "localhost"),
        ({}, "[::1]:8000"),
        ({"KINDLY_PUBLIC_URL": "https://search.test/mcp"}, "search.test"),
        ({"KINDLY_ALLOWED_HOSTS": "kindly.test"}, "Kindly.test:443"),
    ],
    ids=["loopback name", "loopback IPv6", "public URL", "allowed host"],
)
async def test_allowed_hosts_reach_authentication(environ: dict[str, str], host: str) -> None:
    async with client(**SECURED, **environ) as http:
        response = await http.get("/mcp", headers={"Host": host})
    assert response.status_code == 401
