"""Overhead of fetching: `get_content` and `web_search` against a bare client on the same pages, interleaved.

    python -m bench.fetch_overhead [--rounds 9]

One page after another, 50 pages at once with 50 to 400 ms of page latency, and a search with 5 results. The fetch bars
are without extraction (pages go through an extractor that only decodes); the figures with extraction are printed next
to them. Exits 1 if a bar is missed.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import anyio
import httpx2
from mcp import Client

from bench.served import served
from kindly.app import App, open_app
from kindly.budget import Deadline
from kindly.extract import ExtractOptions
from kindly.models import Document, Page
from kindly.server.mcp import build_server
from kindly.server.profiles import load_profile
from kindly.settings import Settings

MAX_ADDED_MS = 10.0
MAX_AT_ONCE = 1.3
MAX_SEARCH = 1.15
PROVIDER_S, SLOWEST_PAGE_S = 0.2, 0.4
AT_ONCE = 50
IN_TURN = 20
FRESH = count()
Get = Callable[[str], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class DecodeOnly:
    """An extractor that only decodes, so that a call measures fetching."""

    async def extract(self, page: Page, _: ExtractOptions, __: Deadline) -> Document:
        """The page, decoded."""
        text = page.body.decode()
        return Document(page.url, text, page.fetched_at, content_hash=f"{hash(text):064x}"[-64:])

    async def warm(self) -> None:
        """Nothing to do."""


@asynccontextmanager
async def kindly_client(base: str, *, extraction: bool) -> AsyncIterator[Client]:
    """A real MCP client on a real server in this process."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load(
            {
                "SERPER_API_KEY": "bench-key",
                "SERPER_BASE_URL": base,
                "KINDLY_ALLOW_PRIVATE": base.removeprefix("http://"),
                "DATA_DIR": folder,
            }
        )

        @asynccontextmanager
        async def app() -> AsyncIterator[App]:
            async with open_app(settings) as opened:
                stages = (
                    opened.stages if extraction else replace(opened.stages, extractor=DecodeOnly())
                )
                yield replace(opened, stages=stages)

        async with Client(build_server(app, load_profile("kindly"))) as client:
            yield client


def address(base: str, number: int, latency_ms: int) -> str:
    """A URL that was not requested before."""
    return f"{base}/page/{number}?ms={latency_ms}&fresh={next(FRESH)}"


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """The duration in seconds."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def all_at_once(get: Get, base: str) -> None:
    """50 pages, the latency of each between 50 and 400 ms."""
    async with anyio.create_task_group() as tasks:
        for number in range(AT_ONCE):
            tasks.start_soon(get, address(base, number, 50 + 350 * number // (AT_ONCE - 1)))


async def measure(base: str, rounds: int) -> int:
    """Interleave all measurements, print them, and return 1 if a bar is missed."""
    async with (
        httpx2.AsyncClient(http2=True, limits=httpx2.Limits(max_connections=100)) as bare,
        kindly_client(base, extraction=False) as fetching,
        kindly_client(base, extraction=True) as reading,
    ):

        async def bare_get(url: str) -> None:
            (await bare.get(url)).raise_for_status()

        def through(client: Client) -> Get:
            async def get(url: str) -> None:
                result = await client.call_tool("get_content", {"url": url})
                assert not result.is_error, result.content

            return get

        getters = {"bare": bare_get, "fetching": through(fetching), "reading": through(reading)}
        turns: dict[str, list[float]] = {name: [] for name in getters}
        bursts: dict[str, list[float]] = {name: [] for name in getters}
        searches: list[float] = []
        for get in getters.values():
            await all_at_once(get, base)  # once without measuring: connections, robots.txt, workers
        for _ in range(rounds):
            for number in range(IN_TURN):
                for name, get in getters.items():
                    url = address(base, number, 0)
                    turns[name].append(await timed(lambda get=get, url=url: get(url)))  # type: ignore[misc]
            for name, get in getters.items():
                bursts[name].append(await timed(lambda get=get: all_at_once(get, base)))  # type: ignore[misc]
            query = {"query": f"tea{next(FRESH)}", "num_results": 5}
            searches.append(await timed(lambda query=query: reading.call_tool("web_search", query)))  # type: ignore[misc]
    return report(turns, bursts, searches)


def report(
    turns: dict[str, list[float]], bursts: dict[str, list[float]], searches: list[float]
) -> int:
    """Print the medians next to their bars."""
    turn = {name: statistics.median(values) * 1000 for name, values in turns.items()}
    burst = {name: statistics.median(values) for name, values in bursts.items()}
    search = statistics.median(searches) / (PROVIDER_S + SLOWEST_PAGE_S)
    added = turn["fetching"] - turn["bare"]
    ratio = burst["fetching"] / burst["bare"]
    both = burst["reading"] / burst["bare"]
    search_ms = statistics.median(searches) * 1000
    print(f"one after another: bare client      {turn['bare']:6.1f} ms p50")
    print(f"  get_content                       {turn['fetching']:6.1f} ms p50")
    print(f"  added                             {added:6.1f} ms     bar {MAX_ADDED_MS:.0f}")
    print(f"  get_content with extraction       {turn['reading']:6.1f} ms p50")
    print(f"50 at once: bare client             {burst['bare'] * 1000:6.0f} ms")
    print(f"  get_content                       {burst['fetching'] * 1000:6.0f} ms")
    print(f"  ratio                             {ratio:6.2f}        bar {MAX_AT_ONCE}")
    print(f"  ratio with extraction             {both:6.2f}")
    print(f"web_search, 5 results               {search_ms:6.0f} ms")
    print(f"  ratio to provider + slowest page  {search:6.2f}        bar {MAX_SEARCH}")
    return int(added > MAX_ADDED_MS or ratio > MAX_AT_ONCE or search > MAX_SEARCH)


def main() -> int:
    """Run the site and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with served("bench.site") as (port, _):
        return anyio.run(measure, f"http://127.0.0.1:{port}", rounds)


if __name__ == "__main__":
    sys.exit(main())
