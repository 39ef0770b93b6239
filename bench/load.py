"""Many calls at once, some of them hostile and some cancelled, and what they leave behind.

    python -m bench.load [--transport http|stdio] [--calls 10000] [--at-once N] [--seed 1]
    python -m bench.load --overload
    python -m bench.load --cancel 1000

Starts the console script against `bench.site` and calls it through real clients: 100 calls at once over HTTP, 50 over
stdio; of ten calls one is hostile and one is cancelled on the way. Prints errors, p50, p95, p99 and what the server
holds (memory, descriptors, threads, children) after a warm-up and after each fifth of the calls. `--overload`
sends 100 calls to a server that takes 8, and looks at how soon the others hear that it is busy. `--cancel` gives up
that many calls while their page is on the way, and looks at how soon the server has let go of their connections. Exits
1 when a call is lost, an error was not to be expected, or the server holds more at the end than after the first fifth.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from bench.hostile_load import descendants, weight_kb
from bench.served import served
from kindly.server.render.failures import UNEXPECTED

SCRIPT = Path(sys.executable).with_name("kindly-web-search-mcp-server")
AT_ONCE = {"http": 100, "stdio": 50}
MAX_GROWTH_MB = 20
SPARE = 4
"""Descriptors, threads and children that may come and go."""
MAX_BUSY_S = 1.0
PATIENCE_S = 60
IDLE_S = 17.0
"""Longer than an unused connection is kept."""
HOSTILE = ("missing", "broken", "liar", "bomb", "short", "loop", "deep", "binary", "slow")


def environment(folder: str, port: int, **more: str) -> dict[str, str]:
    """Settings of a server that may fetch from the site."""
    return {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
        "HOME": folder,
        "DATA_DIR": folder,
        "KINDLY_ALLOW_PRIVATE": f"127.0.0.1:{port}",
        "KINDLY_BROWSER": "off",
        "SERPER_API_KEY": "bench-key-1234",
        "SERPER_BASE_URL": f"http://127.0.0.1:{port}/fast",
        "KINDLY_SEARCHES_PER_MINUTE": "6000",
        "REQUEST_TIMEOUT_MS": "5000",
        **more,
    }


@contextmanager
def http_server(environ: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The server over HTTP; gives its address and its process."""
    with subprocess.Popen(
        [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", "0"],
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+", json.loads(process.stderr.readline())["event"])
        assert found is not None
        yield found[0], process.pid
        process.terminate()
        process.stderr.read()


@asynccontextmanager
async def clients(
    transport: str, environ: dict[str, str], count: int
) -> AsyncIterator[tuple[list[Client], int]]:
    """As many clients as calls at once over HTTP, one over stdio; and the server's process."""
    async with AsyncExitStack() as stack:
        if transport == "http":
            address, pid = stack.enter_context(http_server(environ))
            yield [await stack.enter_async_context(Client(address)) for _ in range(count)], pid
            return
        before = set(descendants(os.getpid(), 0))
        server = StdioServerParameters(command=str(SCRIPT), args=["start-mcp-server"], env=environ)
        client = await stack.enter_async_context(Client(server))
        (pid, *_) = (pid for pid in descendants(os.getpid(), 0) if pid not in before)
        yield [client] * count, pid


@dataclass(frozen=True, slots=True)
class Held:
    """What the server and the processes below it hold."""

    resident_mb: float
    """Resident memory of all processes."""
    memory_mb: float
    """The server's own, without files that are mapped: the system takes those back when others need it."""
    workers_mb: float
    """The same of the parsers."""
    descriptors: int
    threads: int
    children: int

    def __str__(self) -> str:
        return (
            f"{self.resident_mb:6.1f} MB resident; without files {self.memory_mb:.1f} MB "
            f"and {self.workers_mb:.1f} MB in workers; "
            f"{self.descriptors} descriptors, {self.threads} threads, {self.children} children"
        )


def held_by(pid: int) -> Held:
    """What a server holds now; of what several processes share, each has its part."""
    below = list(descendants(pid, 0))
    return Held(
        sum(weight_kb(one, "Rss") for one in (pid, *below)) / 1024,
        weight_kb(pid, "Pss_Anon") / 1024,
        sum(weight_kb(one, "Pss_Anon") for one in below) / 1024,
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        len(list(Path(f"/proc/{pid}/task").iterdir())),
        len(below),
    )


async def settled(pid: int) -> Held:
    """What the server holds once it has nothing to do, and has closed unused connections."""
    await anyio.sleep(IDLE_S)
    return held_by(pid)


@dataclass(slots=True)
class Tally:
    """What became of the calls."""

    took_ms: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        cuts = statistics.quantiles(self.took_ms, n=100)
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.most_common())
        return (
            f"{sum(self.ends.values())} calls: {ends}; {len(self.wrong)} wrong\n"
            f"answered in p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms, p99 {cuts[98]:.0f} ms"
        )


class Mix:
    """Calls as agents make them: searches, pages, questions; a tenth hostile, a tenth given up."""

    def __init__(self, port: int, seed: int) -> None:
        self._base = f"http://127.0.0.1:{port}"
        self._dice = random.Random(seed)
        self._fresh = 0

    def next(self) -> tuple[str, str, dict[str, object]]:
        """What is expected, the tool, and its arguments."""
        kind = self._dice.random()
        if kind < 0.1:
            name = self._dice.choice(HOSTILE)
            return "hostile", "get_content", {"url": f"{self._base}/hostile/{name}"}
        page: dict[str, object] = {"url": self._page()}
        end = "cancelled" if kind < 0.2 else "ok"
        match self._dice.randrange(4):
            case 0:
                return end, "web_search", {"query": f"tea {self._dice.randrange(200)}"}
            case 1:
                return end, "read_page", page | {"question": "Which leaf grows in the garden?"}
            case _:
                return end, "get_content", page

    def _page(self) -> str:
        """One of fifty pages at one of forty addresses, so that about half are known already."""
        self._fresh = (self._fresh + 1) % 40
        return f"{self._base}/page/{self._dice.randrange(50)}?ms=20&v={self._fresh}"


async def call(client: Client, mix: Mix, tally: Tally) -> None:
    """One call, to its end."""
    expected, tool, arguments = mix.next()
    began = time.perf_counter()
    patience = 0.02 if expected == "cancelled" else PATIENCE_S
    end = "lost"
    with anyio.move_on_after(patience) as scope:
        result = await client.call_tool(tool, arguments)
        text = str(result.content[0])
        end = "failed" if result.is_error else "ok"
        if UNEXPECTED in text or (result.is_error and expected == "ok"):
            tally.wrong.append(f"{tool}: {text[:200]}")
    if scope.cancelled_caught:
        end = "cancelled" if expected == "cancelled" else "lost"
    else:
        tally.took_ms.append((time.perf_counter() - began) * 1000)
    tally.ends["hostile" if expected == "hostile" and end != "lost" else end] += 1


async def rounds(pool: list[Client], mix: Mix, tally: Tally, calls: int) -> None:
    """So many calls, as many at once as there are clients."""
    left = calls

    async def work(client: Client) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await call(client, mix, tally)

    async with anyio.create_task_group() as tasks:
        for client in pool:
            tasks.start_soon(work, client)


async def soak(transport: str, calls: int, at_once: int, seed: int) -> int:
    """All the calls; whether a bar is missed."""
    tally = Tally()
    with served("bench.site") as (port, _), tempfile.TemporaryDirectory() as folder:
        async with clients(transport, environment(folder, port), at_once) as (pool, pid):
            mix = Mix(port, seed)
            await rounds(pool, mix, Tally(), max(at_once, calls // 50))
            print(f"start  {await settled(pid)}", flush=True)
            curve = []
            for fifth in range(1, 6):
                await rounds(pool, mix, tally, calls // 5)
                curve.append(await settled(pid))
                print(f"{fifth * 20:3} %  {curve[-1]}", flush=True)
            print(tally, flush=True)
            early, late = curve[0], curve[-1]
    for line in tally.wrong[:10]:
        print(line)
    missed = [
        (late.resident_mb - early.resident_mb > MAX_GROWTH_MB, "memory"),
        (late.descriptors > early.descriptors + SPARE, "descriptors"),
        (late.threads > early.threads + SPARE, "threads"),
        (late.children > early.children + SPARE, "children"),
        (bool(tally.ends["lost"]), "lost calls"),
        (bool(tally.wrong), "errors"),
    ]
    return told([name for is_missed, name in missed if is_missed])


async def overload() -> int:
    """A hundred calls to a server that takes eight."""
    busy_s: list[float] = []
    ends: Counter[str] = Counter()
    with served("bench.site") as (port, _), tempfile.TemporaryDirectory() as folder:
        environ = environment(folder, port, KINDLY_MAX_CALLS="8")
        async with clients("http", environ, AT_ONCE["http"]) as (pool, _):

            async def one(number: int, client: Client) -> None:
                url = f"http://127.0.0.1:{port}/page/{number}?ms=3000"
                began = time.perf_counter()
                result = await client.call_tool("get_content", {"url": url})
                is_busy = bool(result.is_error) and "busy" in str(result.content[0])
                ends["busy" if is_busy else "failed" if result.is_error else "ok"] += 1
                if is_busy:
                    busy_s.append(time.perf_counter() - began)

            async with anyio.create_task_group() as tasks:
                for number, client in enumerate(pool):
                    tasks.start_soon(one, number, client)
    longest = max(busy_s, default=0.0)
    print(f"{dict(ends)}; told busy within {longest * 1000:.0f} ms at most")
    return told(["busy"] if longest > MAX_BUSY_S or ends["failed"] or not busy_s else [])


async def cancel(calls: int) -> int:
    """So many calls given up on the way, fifty at once."""
    at_once = AT_ONCE["stdio"]
    with served("bench.site") as (port, _), tempfile.TemporaryDirectory() as folder:
        async with clients("stdio", environment(folder, port), at_once) as (pool, pid):
            await pool[0].call_tool("get_content", {"url": f"http://127.0.0.1:{port}/page/1"})
            before = await settled(pid)

            async def give_up(client: Client, numbers: range) -> None:
                for number in numbers:
                    url = f"http://127.0.0.1:{port}/page/1?ms=4000&n={number}"
                    with anyio.move_on_after(0.05):
                        await client.call_tool("get_content", {"url": url})

            async with anyio.create_task_group() as tasks:
                for start, client in enumerate(pool):
                    tasks.start_soon(give_up, client, range(start, calls, at_once))
            began = time.perf_counter()
            while held_by(pid).descriptors > before.descriptors + SPARE:
                await anyio.sleep(0.02)
                if time.perf_counter() - began > PATIENCE_S:
                    break
            took_s = time.perf_counter() - began
            await pool[0].list_tools()
            print(f"before {before}\nafter  {await settled(pid)}")
    print(
        f"{calls} calls given up; their connections were closed {took_s * 1000:.0f} ms after the last"
    )
    return told(["connections"] if took_s > MAX_BUSY_S else [])


def told(missed: list[str]) -> int:
    """Say what was missed, if anything was."""
    print(f"missed: {', '.join(missed)}" if missed else "all bars held")
    return 1 if missed else 0


def main() -> int:
    """Parse, run, and say whether a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--transport", choices=("http", "stdio"), default="http")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--at-once", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--overload", action="store_true")
    parser.add_argument("--cancel", type=int, metavar="CALLS")
    given = parser.parse_args()
    if given.cancel:
        return anyio.run(cancel, given.cancel)
    if given.overload:
        return anyio.run(overload)
    at_once = given.at_once or AT_ONCE[given.transport]
    return anyio.run(soak, given.transport, given.calls, at_once, given.seed)


if __name__ == "__main__":
    sys.exit(main())
