"""Names that do not resolve, providers and embedding servers that are down: everything else keeps working."""

from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.budget import Deadline
from kindly.errors import PageUnreachable
from kindly.fetch.fetcher import Seams, open_fetcher
from kindly.search.router import RouterSettings
from kindly.urls import parse
from tests.support.served_world import tavily
from tests.support.site import Answer, Route, Site, SiteRequest, hang_up, html, text
from tests.support.verbs import engine, pages

pytestmark = pytest.mark.anyio

CLOSED = "http://127.0.0.1:1"
"""An address at which no program listens."""
NOT_LISTENING = "not listening"
SEARCHES = 6


async def silence(_: SiteRequest, stream: SocketStream) -> None:
    """Never answers."""
    try:
        await stream.receive()
    except anyio.EndOfStream:
        return


async def drip(_: SiteRequest, stream: SocketStream) -> None:
    """Sends its response byte by byte, with pauses."""
    await stream.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        await stream.send(b" ")
        await anyio.sleep(0.05)


OUTAGES: dict[str, Route] = {
    "server error": Answer(b"", 500),
    "reset": hang_up,
    "silence": silence,
    "drip": drip,
    "login page": html("<h1>Sign in</h1>"),
    "rate limit": Answer(b"", 429),
    "half an answer": text('{"organic": [', "application/json"),
}
SHORT = {key: {"KINDLY_SEARCH_TIMEOUT_S": "3"} for key in ("silence", "drip")}
"""A short time-out where only the time-out ends the call."""


async def test_a_name_that_does_not_resolve_is_reported_and_the_next_page_comes() -> None:
    async def broken(host: str, port: int) -> Iterable[str]:
        raise OSError("Temporary failure in name resolution")

    async with open_fetcher(seams=Seams(resolver=broken)) as fetcher:
        for _ in range(3):
            with anyio.fail_after(120), pytest.raises(PageUnreachable, match=r"site\.example"):
                await fetcher.fetch(parse("https://site.example/"), Deadline.after(60))


@pytest.mark.parametrize("outage", [*OUTAGES, NOT_LISTENING])
async def test_one_provider_of_two_down_fails_no_search(
    site: Site, tmp_path: Path, outage: str
) -> None:
    pages(site)
    site.add("/serper/search", OUTAGES.get(outage, html("never seen")))
    site.add("/tavily/search", tavily([site.url("/p0")]))
    more = {"SERPER_BASE_URL": CLOSED} if outage == NOT_LISTENING else {}
    with anyio.fail_after(120):
        async with engine(site, tmp_path, **SHORT.get(outage, {}), **more) as at:
            ended = [await at.search(f"bees {number}") for number in range(SEARCHES)]
    assert ended == ["ok"] * SEARCHES


@pytest.mark.parametrize("outage", [*OUTAGES, NOT_LISTENING])
async def test_all_providers_down_is_reported_within_the_budget_of_a_search(
    site: Site, tmp_path: Path, outage: str
) -> None:
    for name in ("serper", "tavily"):
        if outage in OUTAGES:
            site.add(f"/{name}/search", OUTAGES[outage])
    more = {} if outage in OUTAGES else {"SERPER_BASE_URL": CLOSED, "TAVILY_BASE_URL": CLOSED}
    async with engine(site, tmp_path, **SHORT.get(outage, {}), **more) as at:
        with anyio.fail_after(120):
            told = await at.search("bees")
    assert "Serper" in told
    assert "tavily" in told
    assert "The fallback failed too" in told


def test_the_budget_of_a_search_is_below_ten_seconds() -> None:
    assert RouterSettings().budget_s < 10


@pytest.mark.parametrize("outage", ["server error", "reset", "login page", NOT_LISTENING])
async def test_without_embeddings_pages_are_fetched_and_read_by_words(
    site: Site, tmp_path: Path, outage: str
) -> None:
    pages(site)
    if outage in OUTAGES:
        site.add("/v1/embeddings", OUTAGES[outage])
    server = site.url() if outage in OUTAGES else CLOSED
    with anyio.fail_after(120):
        async with engine(site, tmp_path, EMBEDDING_SERVER_URL=server) as at:
            assert await at.search("bees") == "ok"
            assert await at.fetch("/p0") == "http"
            told = await at.read("/p1")
    assert told.startswith("http")
    assert "Ranked by words alone" in told
