"""The requests of the public pool: the list, results pages, health checks, and addresses that are not public."""

import httpx2
import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import AddressRefused, PoolExhausted, ProviderUnreachable
from kindly.models import Query
from kindly.search.provider import Access, Maintained
from kindly.search.providers.searxng_pool import SPEC, InstanceRequests, pool_settings
from kindly.search.vendor_api import VendorApi
from tests.support.fakes import PROVIDER_DATA, FakeApi, FakeSleep, Reply
from tests.support.memory_state import MemoryState
from tests.support.paths import DATA

pytestmark = pytest.mark.anyio

LISTED = (DATA / "searx_space" / "instances.json").read_bytes()
PAGE = next((PROVIDER_DATA / "searxng").glob("*.html")).read_bytes()
QUERY = Query("structural pattern matching", count=3)


def results(request: httpx2.Request) -> httpx2.Response:
    if request.url.host == "searx.space":
        return httpx2.Response(200, content=LISTED)
    return httpx2.Response(200, content=PAGE, headers={"Content-Type": "text/html"})


class AnyHost(dict[str, list[Reply]]):
    """The same replies for every host."""

    def __missing__(self, host: str) -> list[Reply]:
        return self["*"]


def access(api: FakeApi) -> Access:
    pause = FakeSleep()
    clock = Clock(lambda: 1_800_000_000 + pause.clock.now, sleep=pause, random=lambda: 0.5)
    return Access(VendorApi(api.client(), SPEC), SPEC.base_url, {}, clock, MemoryState())


async def test_a_search_looks_like_that_of_a_browser() -> None:
    api = FakeApi(AnyHost({"*": [results]}))
    pool = SPEC.build(access(api))
    found = await pool.search(QUERY, Deadline.after(10))
    assert found.hits
    assert found.instance
    listing, search = api.requests
    assert listing.url == SPEC.base_url
    assert "format" not in search.url.params
    assert search.headers["User-Agent"].startswith("Mozilla/5.0")
    assert isinstance(pool, Maintained)


async def test_when_nothing_answers_the_pool_is_exhausted() -> None:
    api = FakeApi(AnyHost({"*": [httpx2.ConnectError("no")]}))
    with pytest.raises(PoolExhausted) as caught:
        await SPEC.build(access(api)).search(QUERY, Deadline.after(10))
    assert caught.value.retry_after_s
    assert caught.value.attempted == ()


async def test_a_probe_calls_the_health_check() -> None:
    api = FakeApi(AnyHost({"*": [httpx2.Response(200, text="OK")]}))
    await InstanceRequests(access(api).api, "").probe(
        "https://searx.example/sub/", Deadline.after(5)
    )
    assert [str(request.url) for request in api.requests] == ["https://searx.example/sub/healthz"]


async def test_an_instance_at_a_private_address_counts_as_unreachable() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise AddressRefused("It leads to a private network.", url=str(request.url))

    requests = InstanceRequests(
        access(FakeApi(AnyHost({"*": [refuse]}))).api, "https://list.example/"
    )
    for call in (
        requests.search("https://a.example", QUERY, Deadline.after(5), "agent"),
        requests.probe("https://a.example", Deadline.after(5)),
        requests.instance_list(Deadline.after(5)),
    ):
        with pytest.raises(ProviderUnreachable) as caught:
            await call
        assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_the_delays_of_the_pool_are_in_order() -> None:
    chosen = {"KINDLY_POOL_DELAY_MIN_MS": 900, "KINDLY_POOL_DELAY_MAX_MS": 100}
    assert pool_settings(chosen).request_delay_ms == (100, 900)
