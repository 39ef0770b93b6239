"""Kindly in a process of its own: the console script over stdio, over HTTP, or as a command."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import Client, StdioServerParameters

SCRIPT = Path(sys.executable).with_name("kindly-web-search-mcp-server")
PATIENCE_S = 120.0
"""Far above what a start takes, so that only a process that hangs reaches it."""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
INHERITED = frozenset({"PATH", "HOME", "SYSTEMROOT", "TMPDIR"})


def child_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """What an MCP host passes on, what coverage needs, and the settings of `environ`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in INHERITED or name.startswith("COV")
    }
    return {**kept, **(environ or {})}


@asynccontextmanager
async def stdio_client(
    environ: dict[str, str], *arguments: str, mode: Any = "auto"
) -> AsyncIterator[Client]:
    """An MCP client of the console script."""
    parameters = StdioServerParameters(
        command=str(SCRIPT), args=["start-mcp-server", *arguments], env=child_environment(environ)
    )
    with anyio.fail_after(PATIENCE_S):
        async with Client(parameters, mode=mode) as client:
            yield client


class RawServer:
    """The console script with bare pipes, to see every byte."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [str(SCRIPT), "start-mcp-server", "--log-level", "debug"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(environ),
        )

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    async def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    async def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await anyio.to_thread.run_sync(self.process.stdout.readline, abandon_on_cancel=True)
        message: dict[str, Any] = json.loads(line)
        return message

    async def close_input(self) -> tuple[bytes, bytes]:
        """Close standard input and wait for the exit; the remaining output and the log."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        return await anyio.to_thread.run_sync(lambda: self.process.communicate(timeout=PATIENCE_S))


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    with anyio.fail_after(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - another process sets no event here
            await anyio.sleep(0.01)


@contextmanager
def killed_after(process: "subprocess.Popen[Any]", seconds: float = PATIENCE_S) -> Iterator[None]:
    """Kill a process that takes too long, so that a blocking read of its output ends."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def tool_call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A JSON-RPC `tools/call` request."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def serving(
    command: Sequence[str], environ: Mapping[str, str], logged: list[str] | None = None
) -> Iterator[str]:
    """Start a server that logs its address; gives the address, and appends its log to `logged`."""
    process = subprocess.Popen(
        command, env=dict(environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    lines = [] if logged is None else logged
    try:
        assert process.stderr is not None
        match = None
        with killed_after(process):
            while match is None:
                lines.append(process.stderr.readline())
                match = re.search(r"http://\S+/mcp", json.loads(lines[-1])["event"])
        yield match[0]
    finally:
        process.terminate()
        lines += process.communicate(timeout=PATIENCE_S)[1].splitlines()


@contextmanager
def http_server(environ: dict[str, str], logged: list[str] | None = None) -> Iterator[str]:
    """The console script with the HTTP transport on a free port; gives its address."""
    command = [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", "0"]
    with serving(command, child_environment(environ), logged) as address:
        yield address


@dataclass(frozen=True)
class CommandResult:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


async def run_kindly(environ: dict[str, str], *arguments: str) -> CommandResult:
    """Run `kindly …` to its end."""

    def run() -> CommandResult:
        done = subprocess.run(
            [str(SCRIPT.with_name("kindly")), *arguments],
            env=child_environment(environ),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return await anyio.to_thread.run_sync(run)
