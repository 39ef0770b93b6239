"""The user's own SearXNG instances."""

import anyio
import httpx2
import pytest

from kindly.budget import Deadline
from kindly.errors import (
    ProviderAnswerInvalid,
    ProviderAuth,
    ProviderFailed,
    ProviderRejected,
    ProviderTimeout,
)
from kindly.models import ProviderResults, Query
from kindly.search.provider import Access
from kindly.search.providers.searxng import FAILED_S, JSON_OFF_S, SPEC
from kindly.search.vendor_api import VendorApi
from tests.support.fakes import (
    PROVIDER_DATA,
    FakeApi,
    FakeClock,
    FakeSecret,
    Reply,
    provider_answer,
)
from tests.support.memory_state import MemoryState

pytestmark = pytest.mark.anyio

QUERY = Query("x", count=2)
A, B, C = "https://a.example", "https://b.example/searx/", "http://10.0.0.5:8080"
FOUND = httpx2.Response(200, json=provider_answer("searxng", "search"))
EMPTY = httpx2.Response(200, json=provider_answer("searxng", "empty"))
PAGE = (PROVIDER_DATA / "searxng" / "results.html").read_text(encoding="utf-8")


def json_off(request: httpx2.Request) -> httpx2.Response:
    """An instance as it comes: HTML only."""
    if request.url.params.get("format") == "json":
        return httpx2.Response(403, html="<h1>Forbidden</h1>")
    return httpx2.Response(200, html=PAGE)


class Setup:
    """Instances and their clock."""

    def __init__(self, addresses: str, **replies: Reply) -> None:
        self.api = FakeApi({host.replace("_", "."): [reply] for host, reply in replies.items()})
        self.clock = FakeClock()
        api = VendorApi(self.api.client(), SPEC)
        values = {"SEARXNG_BASE_URL": FakeSecret(addresses)}
        access = Access(api, SPEC.base_url, values, self.clock.clock, MemoryState())
        self.provider = SPEC.build(access)

    async def search(self, deadline: Deadline | None = None) -> ProviderResults:
        with anyio.fail_after(120):
            return await self.provider.search(QUERY, deadline or Deadline.after(60))

    @property
    def formats(self) -> list[str]:
        return [request.url.params.get("format", "html") for request in self.api.requests]


async def test_json_is_requested_and_the_instance_is_named() -> None:
    setup = Setup(A, a_example=FOUND)
    found = await setup.search()
    assert (len(found.hits), found.instance) == (2, A)
    assert setup.formats == ["json"]


async def test_instance_without_json_is_read_as_html_and_remembered_for_a_day() -> None:
    setup = Setup(A, a_example=json_off)
    assert len((await setup.search()).hits) == 3
    setup.clock.advance(JSON_OFF_S - 1)
    await setup.search()
    assert setup.formats == ["json", "html", "html"]
    setup.clock.advance(2)
    await setup.search()
    await setup.search()
    assert setup.formats == ["json", "html", "html", "json", "html", "html"]


async def test_html_that_is_refused_too_is_an_auth_failure_and_not_remembered() -> None:
    setup = Setup(A, a_example=httpx2.Response(403))
    for _ in range(2):
        with pytest.raises(ProviderAuth):
            await setup.search()
    assert setup.formats == ["json", "html"] * 2


async def test_instances_are_called_in_turn() -> None:
    setup = Setup(f"{A}, {B},{C},", a_example=FOUND, b_example=EMPTY, **{"10_0_0_5": EMPTY})
    for _ in range(4):
        await setup.search()
    assert setup.api.hosts == ["a.example", "b.example", "10.0.0.5", "a.example"]
    assert setup.api.requests[1].url.path == "/searx/search"


async def test_an_instance_that_failed_is_called_last_for_a_minute() -> None:
    setup = Setup(f"{A},{B}", a_example=httpx2.Response(500), b_example=FOUND)
    found = await setup.search()
    assert found.instance == "https://b.example/searx"
    await setup.search()
    await setup.search()
    assert setup.api.hosts == ["a.example", "b.example", "b.example", "b.example"]
    setup.clock.advance(FAILED_S)
    await setup.search()
    await setup.search()
    assert setup.api.hosts[4:] == ["b.example", "a.example", "b.example"]


async def test_failure_of_all_is_the_failure_of_the_first() -> None:
    broken = httpx2.Response(200, text="?")
    setup = Setup(f"{A},{B}", a_example=httpx2.Response(500), b_example=broken)
    with pytest.raises(ProviderFailed):
        await setup.search()
    with pytest.raises(ProviderAnswerInvalid):
        await setup.search()
    assert setup.api.hosts == ["a.example", "b.example", "b.example", "a.example"]


async def test_time_is_shared_over_the_instances() -> None:
    clock = FakeClock()
    setup = Setup(f"{A},{B}", a_example=httpx2.Response(500), b_example=FOUND)

    def slow(request: httpx2.Request) -> httpx2.Response:
        clock.advance(20)
        return httpx2.Response(500)

    setup.api.replies["a.example"] = [slow]
    with pytest.raises(ProviderFailed):
        await setup.search(Deadline.after(10, clock))
    assert setup.api.hosts == ["a.example"]


async def test_no_request_is_sent_after_the_deadline() -> None:
    setup = Setup(f"{A},{B}")
    with pytest.raises(ProviderTimeout):
        await setup.search(Deadline.after(0))
    assert setup.api.requests == []


@pytest.mark.parametrize(
    "addresses",
    [
        "",
        " , ",
        "searx.example",
        "ftp://a.example",
        "https://",
        "http://[::1",
        "https://a\n.example",
    ],
)
async def test_setting_without_a_usable_address_is_named(addresses: str) -> None:
    setup = Setup(addresses)
    with pytest.raises(ProviderRejected) as caught:
        await setup.search()
    assert "SEARXNG_BASE_URL" in str(caught.value)
    assert caught.value.__context__ is None


def test_addresses_are_not_shown_because_they_may_contain_a_password() -> None:
    assert "word" not in repr(Setup("https://user:word@a.example").provider)
