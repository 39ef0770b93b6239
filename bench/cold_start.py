"""Start to answered `tools/list`: Kindly against a bare two-tool server on the same SDK, interleaved in one run.

    python -m bench.cold_start [--runs 15]

Prints both medians, their ratio, the CPU time of both until then, and the size of `tools/list`; exits 1 when a bar is
missed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

MAX_RATIO = 0.6
MAX_CPU_MS = 450
MAX_TOKENS = 1_200
BARE = [sys.executable, str(Path(__file__).with_name("bare_server.py"))]
KINDLY = [sys.executable, "-m", "kindly", "start-mcp-server", "--context", "codex"]
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for command in (BARE, KINDLY):
        start(command)  # once unmeasured: byte code written, files in the page cache
    starts = [(start(BARE), start(KINDLY)) for _ in range(runs)]
    bare, own = (
        Start(
            statistics.median(item.wall_ms for item in side),
            statistics.median(item.cpu_ms for item in side),
            side[0].answer,
        )
        for side in zip(*starts, strict=True)
    )
    listed = json.loads(own.answer)["result"]["tools"]
    tokens = -(-len(json.dumps(listed, separators=(",", ":"))) // 4)
    ratio = own.wall_ms / bare.wall_ms
    print(f"bare server   {bare.wall_ms:7.0f} ms, CPU {bare.cpu_ms:5.0f} ms (medians of {runs})")
    print(f"kindly        {own.wall_ms:7.0f} ms, CPU {own.cpu_ms:5.0f} ms, bar {MAX_CPU_MS}")
    print(f"ratio         {ratio:7.2f}    bar {MAX_RATIO}")
    print(f"tools/list    {tokens:7} tokens (characters / 4), bar {MAX_TOKENS}")
    return int(ratio > MAX_RATIO or own.cpu_ms > MAX_CPU_MS or tokens > MAX_TOKENS)


class Start(NamedTuple):
    """One start: time to the answer of `tools/list`, CPU time until then, and that answer."""

    wall_ms: float
    cpu_ms: float
    answer: str


def start(command: list[str]) -> Start:
    """Start a server and list its tools."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        send(server, {"id": 1, "method": "initialize", "params": INITIALIZE})
        server.stdout.readline()
        send(server, {"method": "notifications/initialized"})
        send(server, {"id": 2, "method": "tools/list"})
        answer = server.stdout.readline()
        seconds = time.perf_counter() - began
        cpu_s = cpu_of(server.pid)
        server.stdin.close()
        server.wait(10)
    return Start(seconds * 1000, cpu_s * 1000, answer)


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far; 0 where the system does not tell."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def send(server: "subprocess.Popen[str]", message: dict[str, object]) -> None:
    """Write one message."""
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


if __name__ == "__main__":
    sys.exit(main())
