"""Cost of hostile pages: memory above idle, time, and the latency of other calls meanwhile.

    python -m bench.hostile_load [--only NAME ...] [--patience 30]

Starts the console script over stdio with `hostile_site`, once for each bomb. Idle is the server after ordinary pages,
with warm workers. Each bomb is fetched until there are 100 samples of the other calls' latency.
Memory is the proportional set size (PSS) of the server and all its descendants, sampled every 20 ms. Exits 1 if a bomb
takes more than 150 MB above idle, `tools/list` has a p99 of 250 ms or more meanwhile, or the server does not answer
afterwards.
"""

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from bench.hostile_site import names
from bench.served import served

MAX_OVER_IDLE_MB = 150
MAX_P99_MS = 250
SAMPLE_S = 0.02
MIN_SAMPLES = 100
"""Of the other calls' latency; a bomb that ends before that is fetched again."""
ORDINARY_PAGES = 3
SCRIPT = Path(sys.executable).with_name("kindly-web-search-mcp-server")


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one bomb."""

    name: str
    outcome: str
    seconds: float
    idle_mb: float
    over_idle_mb: float
    waits_ms: list[float] = field(repr=False)
    alive: bool

    @property
    def p99_ms(self) -> float:
        """The 99th percentile of the other calls' latency."""
        return sorted(self.waits_ms)[int(len(self.waits_ms) * 0.99)]

    @property
    def holds(self) -> bool:
        """Whether all bars are met."""
        return self.over_idle_mb <= MAX_OVER_IDLE_MB and self.p99_ms < MAX_P99_MS and self.alive

    def __str__(self) -> str:
        p50 = statistics.median(self.waits_ms)
        return (
            f"{self.name:20} {self.outcome:13} {self.seconds:6.1f} s {self.idle_mb:6.0f} MB "
            f"{self.over_idle_mb:7.0f} MB {p50:7.1f} ms {self.p99_ms:7.1f} ms  {'' if self.holds else 'MISSED'}"
        )


class Scale:
    """Samples the memory of this process's descendants, except one, in a thread."""

    def __init__(self, but_for: int) -> None:
        self._but_for = but_for
        self._peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Scale":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def peak_mb(self) -> float:
        """The maximum since the last call."""
        peak, self._peak = max(self._peak, self._weigh()), 0
        return peak / 1000

    def now_mb(self) -> float:
        """The current memory."""
        return self._weigh() / 1000

    def _weigh(self) -> int:
        return sum(map(weight_kb, descendants(os.getpid(), self._but_for)))

    def _run(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self._peak = max(self._peak, self._weigh())


def descendants(parent: int, but_for: int) -> Iterator[int]:
    """The descendants of a process."""
    try:
        below = Path(f"/proc/{parent}/task").glob("*/children")
        children = [int(pid) for file in below for pid in file.read_text().split()]
    except OSError:
        return
    for child in children:
        if child != but_for:
            yield child
            yield from descendants(child, but_for)


def weight_kb(pid: int, kind: str = "Pss") -> int:
    """Its PSS, all or of one kind; 0 if the process has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(text.partition(f"\n{kind}:")[2].split(None, 1)[0])


async def drop(client: Client, scale: Scale, url: str, idle_mb: float) -> Measured:
    """Fetch one bomb while another caller lists the tools."""
    waits: list[float] = []
    outcome = ""

    async def keep_listing() -> None:
        while True:
            began = time.perf_counter()
            await client.list_tools()
            waits.append((time.perf_counter() - began) * 1000)
            await anyio.sleep(0.005)

    scale.peak_mb()
    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_listing)
        result = await client.call_tool("get_content", {"url": url})
        seconds = time.perf_counter() - began
        while len(waits) < MIN_SAMPLES:
            await client.call_tool("get_content", {"url": url})
        tasks.cancel_scope.cancel()
    told = result.structured_content or {}
    outcome = f"{told.get('status', '?')}{' (partial)' if told.get('partial') else ''}"
    with anyio.move_on_after(10) as waiting:
        await client.list_tools()
    name = url.rpartition("/")[2]
    over_mb = scale.peak_mb() - idle_mb
    return Measured(name, outcome, seconds, idle_mb, over_mb, waits, not waiting.cancelled_caught)


def parameters(folder: str, port: int, patience_s: float) -> StdioServerParameters:
    """A server without a browser that may fetch from the site."""
    return StdioServerParameters(
        command=str(SCRIPT),
        args=["start-mcp-server"],
        env={
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": folder,
            "DATA_DIR": folder,
            "KINDLY_ALLOW_PRIVATE": f"127.0.0.1:{port}",
            "KINDLY_BROWSER": "playwright",
            "KINDLY_BROWSER_PATH": f"{folder}/none",
            "REQUEST_TIMEOUT_MS": str(int(patience_s * 1000)),
        },
    )


async def measure_one(port: int, site: int, name: str, patience_s: float) -> Measured:
    """Start a server, fetch ordinary pages, then one bomb."""
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder, Scale(site) as scale:
        async with Client(parameters(folder, port, patience_s)) as client:
            for n in range(ORDINARY_PAGES):
                await client.call_tool("get_content", {"url": f"{base}/ordinary?{n}"})
            await anyio.sleep(0.5)
            return await drop(client, scale, f"{base}/bomb/{name}", scale.now_mb())


async def measure(port: int, site: int, wanted: list[str], patience_s: float) -> int:
    """Drop the bombs one after the other, print what they did, and say whether a bar is missed.

    One that misses a bar is dropped once more: the machine may have been busy.
    """
    print(
        f"{'bomb':20} {'outcome':13} {'time':>8} {'idle':>9} {'over it':>10} {'p50':>10} {'p99':>10}"
    )
    missed = 0
    for name in wanted:
        measured = await measure_one(port, site, name, patience_s)
        if not measured.holds:
            print(measured, flush=True)
            measured = await measure_one(port, site, name, patience_s)
        print(measured, flush=True)
        missed += not measured.holds
    print(f"{missed} of {len(wanted)} missed a bar")
    return int(missed > 0)


def main() -> int:
    """Run the site and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--patience", type=float, default=30.0)
    options = parser.parse_args()
    wanted = [name for name in names() if not options.only or name in options.only]
    with served("bench.hostile_site") as (port, process):
        return anyio.run(measure, port, process, wanted, options.patience)


if __name__ == "__main__":
    sys.exit(main())
