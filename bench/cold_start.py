"""Start to answered `tools/list`: Kindly against a bare two-tool server on the same SDK, interleaved in one run.

    python -m bench.cold_start [--runs 15]

Prints both medians, their ratio and the size of `tools/list`; exits 1 when a bar is missed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

MAX_RATIO = 1.35
MAX_TOKENS = 1_500
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
    bare: list[float] = []
    own: list[float] = []
    answer = ""
    for _ in range(runs):
        bare.append(start(BARE)[0])
        seconds, answer = start(KINDLY)
        own.append(seconds)
    tokens = -(-len(json.dumps(json.loads(answer)["result"]["tools"], separators=(",", ":"))) // 4)
    ratio = statistics.median(own) / statistics.median(bare)
    print(f"bare server   {statistics.median(bare) * 1000:7.0f} ms (median of {runs})")
    print(f"kindly        {statistics.median(own) * 1000:7.0f} ms")
    print(f"ratio         {ratio:7.2f}    bar {MAX_RATIO}")
    print(f"tools/list    {tokens:7} tokens (characters / 4), bar {MAX_TOKENS}")
    return int(ratio > MAX_RATIO or tokens > MAX_TOKENS)


def start(command: list[str]) -> tuple[float, str]:
    """Seconds from the start of a server to its `tools/list`, and that answer."""
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
        server.stdin.close()
        server.wait(10)
    return seconds, answer


def send(server: "subprocess.Popen[str]", message: dict[str, object]) -> None:
    """Write one message."""
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


if __name__ == "__main__":
    sys.exit(main())
