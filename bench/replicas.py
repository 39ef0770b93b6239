"""Two servers behind a round-robin proxy on one PostgreSQL: mixed calls, and one of the two killed in the middle.

    python -m bench.replicas [--calls 1000] [--at-once 20] [--one]

Each call is a client of its own, so that they alternate. Halfway the second server is killed and started again; a call
that was under way there is made once more, as a client does. Then a page that one has read is asked of the other.
With `--one` a single server has it all, and is left alive. Exits 1 when a call fails, or the page is not recalled.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import anyio
from anyio.abc import SocketStream
from mcp import Client, MCPError
from tests.support.postgres import running_postgres, schema

from bench.load import Mix, environment
from bench.served import served

SCRIPT = Path(sys.executable).with_name("kindly-web-search-mcp-server")
TRIES = 2
PATIENCE_S = 60


class Replica:
    """An HTTP server on its own port, which can be killed and started again."""

    def __init__(self, environ: dict[str, str], port: int) -> None:
        self._environ = environ
        self.port = port
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it and wait until it listens."""
        self._process = subprocess.Popen(
            [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", str(self.port)],
            env=self._environ,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        self._process.stderr.readline()

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


@contextmanager
def replicas(store: str, site_port: int, ports: tuple[int, ...]) -> Iterator[list[Replica]]:
    """Servers with separate folders and one library."""
    with ExitStack() as stack:
        found = []
        for port in ports:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            environ = environment(folder, site_port, KINDLY_STORE=store)
            replica = Replica(environ, port)
            replica.start()
            stack.callback(replica.kill)
            found.append(replica)
        yield found


class RoundRobin:
    """A round-robin TCP proxy that skips servers that do not listen."""

    def __init__(self, ports: tuple[int, ...]) -> None:
        self._ports = ports
        self._turn = count()

    async def __call__(self, stream: SocketStream) -> None:
        """Forward one connection until either side closes it."""
        async with stream:
            server = await self._dial()
            if server is None:
                return
            async with server, anyio.create_task_group() as tasks:
                tasks.start_soon(self._carry, stream, server, tasks.cancel_scope)
                tasks.start_soon(self._carry, server, stream, tasks.cancel_scope)

    async def _dial(self) -> SocketStream | None:
        first = next(self._turn)
        for further in range(len(self._ports)):
            port = self._ports[(first + further) % len(self._ports)]
            with suppress(OSError):
                return await anyio.connect_tcp("127.0.0.1", port)
        return None

    async def _carry(
        self, source: SocketStream, target: SocketStream, scope: anyio.CancelScope
    ) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                await target.send(await source.receive())
        scope.cancel()


@dataclass(slots=True)
class Tally:
    """The results of the calls."""

    took_ms: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    again: int = 0
    half: anyio.Event = field(default_factory=anyio.Event)
    """Whether half of the calls are done."""


async def call(address: str, tool: str, arguments: dict[str, object], tally: Tally) -> None:
    """One call from its own client; retried once if the server was killed."""
    began = time.perf_counter()
    for attempt in range(TRIES):
        try:
            with anyio.fail_after(PATIENCE_S):
                async with Client(address) as client:
                    result = await client.call_tool(tool, arguments)
        except (MCPError, OSError, ExceptionGroup, TimeoutError) as error:
            if attempt + 1 < TRIES:
                tally.again += 1
                continue
            tally.wrong.append(f"{tool}: {reason(error)}")
            tally.ends["lost"] += 1
            return
        break
    tally.took_ms.append((time.perf_counter() - began) * 1000)
    tally.ends["failed" if result.is_error else "ok"] += 1
    if result.is_error:
        tally.wrong.append(f"{tool}: {str(result.content[0])[:200]}")


def reason(error: BaseException) -> str:
    """The root cause of an error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__} {error}"


async def rounds(address: str, mix: Mix, tally: Tally, calls: int, at_once: int) -> None:
    """A number of mixed calls, none of them hostile or cancelled."""
    left = calls

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            if left == calls // 2:
                tally.half.set()
            expected, tool, arguments = mix.next()
            while expected != "ok":
                expected, tool, arguments = mix.next()
            await call(address, tool, arguments, tally)

    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(work)


async def crash(replica: Replica, halfway: anyio.Event) -> None:
    """Kill the server after half of the calls and start it again."""
    await halfway.wait()
    await anyio.to_thread.run_sync(replica.kill)
    began = time.perf_counter()
    await anyio.to_thread.run_sync(replica.start)
    print(f"one server killed; the next was up after {time.perf_counter() - began:.2f} s")


async def recalled(ports: tuple[int, ...], site_port: int) -> bool:
    """Whether a page that the first server reads is recalled through the second."""
    url = f"http://127.0.0.1:{site_port}/page/7?only=once"
    question = {"question": "Which leaf grows in the garden?"}
    async with Client(f"http://127.0.0.1:{ports[0]}/mcp") as client:
        await client.call_tool("read_page", {"url": url, **question})
    async with Client(f"http://127.0.0.1:{ports[-1]}/mcp") as client:
        result = await client.call_tool("read_page", {"url": url, **question})
    return (result.structured_content or {}).get("how") == "library"


async def measure(calls: int, at_once: int, *, one: bool) -> int:
    """Run all calls; return whether a bar is missed."""
    ports: tuple[int, ...] = (39_501 + os.getpid() % 500, 40_501 + os.getpid() % 500)
    ports = ports[:1] if one else ports
    tally = Tally()
    with ExitStack() as stack:
        postgres = stack.enter_context(running_postgres())
        site_port, _ = stack.enter_context(served("bench.site"))
        with replicas(schema(postgres), site_port, ports) as servers:
            listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
            port = listener.extra(anyio.abc.SocketAttribute.local_port)
            async with listener, anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, RoundRobin(ports))
                if not one:
                    tasks.start_soon(crash, servers[1], tally.half)
                began = time.perf_counter()
                address = f"http://127.0.0.1:{port}/mcp"
                await rounds(address, Mix(site_port, 1), tally, calls, at_once)
                took_s = time.perf_counter() - began
                tasks.cancel_scope.cancel()
            is_recalled = await recalled(ports, site_port)
    cuts = statistics.quantiles(tally.took_ms, n=100)
    print(
        f"{calls} calls in {took_s:.1f} s ({calls / took_s:.0f} a second), {at_once} at once: "
        f"{dict(tally.ends)}; {tally.again} made once more\n"
        f"p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms, p99 {cuts[98]:.0f} ms\n"
        f"what one read the other recalls: {'yes' if is_recalled else 'no'}"
    )
    for line in tally.wrong[:10]:
        print(line)
    return 1 if tally.wrong or not is_recalled else 0


def main() -> int:
    """Parse arguments, run, and exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--one", action="store_true")
    given = parser.parse_args()
    return anyio.run(partial(measure, given.calls, given.at_once, one=given.one))


if __name__ == "__main__":
    sys.exit(main())
