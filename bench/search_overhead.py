"""The latency that Kindly adds to a provider, and the cost of a broken provider, interleaved in one run.

    python -m bench.search_overhead [--rounds 200]

A server on loopback that answers like Serper is called directly with the same HTTP library, and through Kindly. Then
two providers, the first of them down: after its circuit breaker has opened, the p95 is compared with that of the second
one alone. Exits 1 if a limit is exceeded.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import count

import anyio
import httpx2

from bench.served import served
from kindly.app import open_app
from kindly.budget import Deadline
from kindly.models import Query
from kindly.settings import Settings

MAX_ADDED_MS = 5.0
MAX_BROKEN_RATIO = 1.10
WARM_UP = 10
FRESH = count()

Search = Callable[[], Awaitable[object]]


async def kindly_search(stack: AsyncExitStack, base: str, environ: dict[str, str]) -> Search:
    """A search through an app with these settings; every query is new, so that no cache answers."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    settings = Settings.load({"DATA_DIR": folder, **environ})
    app = await stack.enter_async_context(open_app(settings))

    async def search() -> object:
        return await app.stages.searcher.search(Query(f"tea {next(FRESH)}", 5), Deadline.after(20))

    return search


async def timed(search: Search) -> float:
    """Milliseconds of one search."""
    began = time.perf_counter()
    await search()
    return (time.perf_counter() - began) * 1000


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


async def measure(base: str, rounds: int) -> int:
    """Interleave the searches and print their latencies; returns the exit code."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx2.AsyncClient())

        async def direct_search() -> object:
            body = {"q": f"tea {next(FRESH)}", "num": 5}
            return (await client.post(f"{base}/fast/search", json=body)).raise_for_status().json()

        serper = {"SERPER_API_KEY": "bench-key-1", "SERPER_BASE_URL": f"{base}/fast"}
        tavily = {"TAVILY_API_KEY": "bench-key-2", "TAVILY_BASE_URL": f"{base}/tavily"}
        broken = {"SERPER_API_KEY": "bench-key-1", "SERPER_BASE_URL": f"{base}/down", **tavily}
        searches: dict[str, Search] = {
            "direct": direct_search,
            "kindly": await kindly_search(stack, base, serper),
            "healthy": await kindly_search(stack, base, tavily),
            "broken": await kindly_search(stack, base, broken),
        }
        latencies_ms: dict[str, list[float]] = {name: [] for name in searches}
        for round_number in range(rounds + WARM_UP):
            for name, search in searches.items():
                milliseconds = await timed(search)
                if round_number >= WARM_UP:
                    latencies_ms[name].append(milliseconds)
    added = statistics.median(latencies_ms["kindly"]) - statistics.median(latencies_ms["direct"])
    ratio = p95(latencies_ms["broken"]) / p95(latencies_ms["healthy"])
    print(
        f"direct call                      {statistics.median(latencies_ms['direct']):6.1f} ms p50"
    )
    print(
        f"through Kindly                   {statistics.median(latencies_ms['kindly']):6.1f} ms p50"
    )
    print(f"  added                          {added:6.1f} ms     limit {MAX_ADDED_MS:.0f}")
    print(f"one provider, healthy            {p95(latencies_ms['healthy']):6.1f} ms p95")
    print(f"two providers, the first down    {p95(latencies_ms['broken']):6.1f} ms p95")
    print(f"  ratio                          {ratio:6.2f}        limit {MAX_BROKEN_RATIO}")
    return int(added > MAX_ADDED_MS or ratio > MAX_BROKEN_RATIO)


def main() -> int:
    """Start the site and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with served("bench.site") as (port, _):
        return anyio.run(measure, f"http://127.0.0.1:{port}", rounds)


if __name__ == "__main__":
    sys.exit(main())
