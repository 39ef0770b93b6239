"""The whole server through its front door: the console script over stdio, on generated pages of real sizes.

    python -m bench.front_door [--quick]

Counts CPU time and resident memory of all processes of the server. Times are ratios to a bare HTTP client, measured
before and after in the same run; a page takes 50 to 400 ms to arrive, and the search provider 200 ms. Exits 1 when a
bar is missed.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from bench.hostile_load import descendants, weight_kb
from bench.load import SCRIPT, environment
from bench.served import served
from kindly.budget import count_tokens

PROVIDER_S = 0.2
SLOWEST_PAGE_S = 0.4
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
QUERIES = 5
LISTED = 20
"""Pages in one call."""
STARTS = 5
AT_ONCE = 8
"""Calls at once in the long run."""
STORED_S = 10.0
"""After this time without a call, all pages are stored in the library."""
FRESH = count()

Get = Callable[[str], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Scale:
    """How many pages each part fetches."""

    in_turn: int = 20
    at_once: int = 50
    long_run: int = 200


@dataclass(slots=True)
class Table:
    """Figures with their bars."""

    missed: list[str] = field(default_factory=list)

    def add(self, what: str, value: float, bar: float, unit: str, digits: int = 0) -> None:
        """Print one row."""
        print(f"{what:<58}{value:8.{digits}f} {unit:<3}  bar {bar:g}")
        if round(value, digits) > bar:
            self.missed.append(what)


class ProcessTree:
    """All processes of the server: those below this one that were not there before."""

    def __init__(self, others: set[int]) -> None:
        self._others = others

    def pids(self) -> list[int]:
        return [pid for pid in descendants(os.getpid(), 0) if pid not in self._others]

    def cpu_ms(self) -> float:
        """User and system time, also of children that have ended."""
        ticks = 0
        for pid in self.pids():
            try:
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
            except OSError:
                continue
            ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
        return ticks * 1000 / TICKS_PER_S

    def resident_mb(self) -> float:
        return sum(weight_kb(pid, "Rss") for pid in self.pids()) / 1024


def address(base: str, number: int, latency_ms: int) -> str:
    """A URL that was not requested before."""
    return f"{base}/page/{number}?ms={latency_ms}&fresh={next(FRESH)}"


def latency(number: int, pages: int) -> int:
    """50 to 400 ms, evenly spread."""
    return 50 + 350 * number // max(pages - 1, 1)


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """The duration in seconds."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def in_turn(get: Get, base: str, pages: int) -> None:
    """Pages one after another."""
    for number in range(pages):
        await get(address(base, number, latency(number * 7 % pages, pages)))


async def at_once(get: Get, base: str, pages: int) -> None:
    """All pages at the same time."""
    async with anyio.create_task_group() as tasks:
        for number in range(pages):
            tasks.start_soon(get, address(base, number, latency(number, pages)))


async def long_run(get: Get, base: str, pages: int) -> None:
    """Many pages without latency, a few at a time."""
    numbers = iter(range(pages))

    async def work() -> None:
        for number in numbers:
            await get(address(base, number, 0))

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)


async def start(server: StdioServerParameters, tree: ProcessTree) -> tuple[float, int]:
    """CPU time from the start of a server to its `tools/list`, and the size of that answer."""
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        cpu_ms = tree.cpu_ms()
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return cpu_ms, count_tokens(text)


async def ratio(work: Callable[[Get], Awaitable[None]], bare: Get, get: Get) -> float:
    """The duration of some work, against that of a bare client before and after it."""
    before = await timed(lambda: work(bare))
    took = await timed(lambda: work(get))
    after = await timed(lambda: work(bare))
    return took / statistics.mean((before, after))


async def in_one_call(client: Client, base: str) -> float:
    """The duration of a call for many pages, against that of a call for the slowest of them."""

    async def many(pages: int) -> None:
        urls = [address(base, n, latency(LISTED - 1 - n, LISTED)) for n in range(pages)]
        result = await client.call_tool("get_content", {"url": urls})
        assert not result.is_error, result.content

    listed = min([await timed(partial(many, LISTED)) for _ in range(QUERIES)])
    slowest = min([await timed(partial(many, 1)) for _ in range(QUERIES)])
    return listed / slowest


async def measure(base: str, server: StdioServerParameters, scale: Scale, table: Table) -> None:
    """Print every figure."""
    tree = ProcessTree(set(descendants(os.getpid(), 0)))
    await start(server, tree)  # once unmeasured: byte code written, files in the page cache
    starts = [await start(server, tree) for _ in range(STARTS)]
    table.add("start to tools/list, CPU", statistics.median(cpu for cpu, _ in starts), 450, "ms")
    table.add("tools/list, tokens (characters / 4)", starts[-1][1], 1_200, "")
    async with (
        httpx2.AsyncClient(limits=httpx2.Limits(max_connections=100)) as http,
        Client(server) as client,
    ):

        async def bare(url: str) -> None:
            (await http.get(url)).raise_for_status()

        async def get(url: str) -> None:
            result = await client.call_tool("get_content", {"url": url})
            assert not result.is_error, result.content

        async def search() -> None:
            query = f"garden {next(FRESH)}"
            result = await client.call_tool("web_search", {"query": query, "num_results": 5})
            assert not result.is_error, result.content

        await client.list_tools()
        await anyio.sleep(1)
        table.add("resident, all processes, idle", tree.resident_mb(), 77, "MB")
        await in_turn(get, base, 3)  # starts the worker
        turn = await ratio(lambda one: in_turn(one, base, scale.in_turn), bare, get)
        table.add("one page after another, to a bare client", turn, 1.12, "x", 2)
        burst = await ratio(lambda one: at_once(one, base, scale.at_once), bare, get)
        table.add(f"{scale.at_once} pages at once, to a bare client", burst, 1.8, "x", 2)
        listed = await in_one_call(client, base)
        table.add(f"{LISTED} pages in one call, to the slowest", listed, 1.15, "x", 2)
        searches = [await timed(search) for _ in range(QUERIES)]
        found = statistics.median(searches) / (PROVIDER_S + SLOWEST_PAGE_S)
        table.add("search with 5 pages, to provider + slowest page", found, 1.2, "x", 2)
        await anyio.sleep(STORED_S)
        cpu_ms = tree.cpu_ms()
        await long_run(get, base, scale.long_run)
        answered_ms = (tree.cpu_ms() - cpu_ms) / scale.long_run
        await anyio.sleep(1)
        after = f"resident, all processes, after {scale.long_run} more pages"
        table.add(after, tree.resident_mb(), 240, "MB")
        table.add("CPU a page, all processes, until it is answered", answered_ms, 30, "ms")
        await anyio.sleep(STORED_S)
        stored_ms = (tree.cpu_ms() - cpu_ms) / scale.long_run
        table.add("CPU a page, all processes, until it is stored", stored_ms, 45, "ms")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="fewer pages")
    scale = Scale(10, 20, 40) if parser.parse_args().quick else Scale()
    table = Table()
    with served("bench.site") as (port, _), tempfile.TemporaryDirectory() as folder:
        base = f"http://127.0.0.1:{port}"
        environ = environment(folder, port, SERPER_BASE_URL=base)
        server = StdioServerParameters(command=str(SCRIPT), args=["start-mcp-server"], env=environ)
        anyio.run(measure, base, server, scale, table)
    for what in table.missed:
        print(f"missed: {what}")
    return int(bool(table.missed))


if __name__ == "__main__":
    sys.exit(main())
