"""The servers of the scoreboard: how they are installed, started and asked.

Each is installed from its registry into `.bench/peers` and started as its documentation says. Its own settings open its
guard for the loopback site, and lift its own limit of requests a minute; everything else is at its default.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client.stdio import StdioServerParameters

FOLDER = Path(__file__).parents[2] / ".bench/peers"
SCRIPTS = Path(sys.executable).parent
FETCH_CHARS = 5_000
"""The default of mcp-server-fetch."""
DUCKDUCKGO_CHARS = 8_000
"""The default of duckduckgo-mcp-server; mcp-searxng has none, and is asked for the same."""

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool."""

    tool: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and the calls that a careful agent makes for a question about a page, one after another."""

    name: str
    command: tuple[str, ...]
    calls: Callable[[str, str], Iterator[Call]]
    packages: tuple[str, ...] = ()
    """What is installed for it; nothing for Kindly itself."""
    npm: bool = False
    environ: dict[str, str] = field(default_factory=dict)
    """Its settings; `{port}` is the port of the site."""
    goes_on: bool = False
    """Whether it goes on with the cursor of the last answer."""

    def parameters(self, port: int, home: Path) -> StdioServerParameters:
        """How to start it beside a site on this port."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "DATA_DIR": str(home)}
        own = {name: value.format(port=port) for name, value in self.environ.items()}
        return StdioServerParameters(
            command=self.command[0], args=list(self.command[1:]), env=environ | own, cwd=home
        )


def installed(server: Server) -> str:
    """Install a server; why it cannot be, or nothing."""
    if not server.packages or Path(server.command[0]).exists():
        return ""
    commands = _npm(server) if server.npm else _pypi(server)
    if not shutil.which(commands[0][0]):
        return f"{commands[0][0]} is not installed"
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            wrong = [line for line in done.stderr.splitlines() if "rror" in line]
            return (wrong or [f"{command[0]} ended with {done.returncode}"])[0]
    return ""


def _pypi(server: Server) -> list[list[str]]:
    folder, uv = str(FOLDER / server.name), str(SCRIPTS / "uv")
    return [
        [uv, "venv", "--quiet", "--allow-existing", folder],
        [uv, "pip", "install", "--quiet", "--python", f"{folder}/bin/python", *server.packages],
    ]


def _npm(server: Server) -> list[list[str]]:
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    return [["npm", "install", "--prefix", str(FOLDER / server.name), *quiet, *server.packages]]


def _pypi_script(package: str) -> str:
    return str(FOLDER / package / "bin" / package)


def _npm_script(package: str) -> str:
    return str(FOLDER / package / "node_modules/.bin" / package)


def _read(url: str, question: str) -> Iterator[Call]:
    yield Call("read_page", {"url": url, "question": question})


def _read_little(url: str, question: str) -> Iterator[Call]:
    yield Call("read_page", {"url": url, "question": question, "max_results": 3})


def _read_then_get(url: str, question: str) -> Iterator[Call]:
    yield Call("read_page", {"url": url, "question": question})
    while True:
        yield Call("get_content", {"url": url, "max_tokens": 2_000})


def _paged(tool: str, start: str, chars: int, **more: Any) -> Callable[[str, str], Iterator[Call]]:
    """Calls for the page from its beginning, part by part."""

    def calls(url: str, question: str) -> Iterator[Call]:
        del question
        at = 0
        while True:
            yield Call(tool, {"url": url, start: at, **more})
            at += chars

    return calls


def _whole(url: str, question: str) -> Iterator[Call]:
    del question
    yield Call("convert_to_markdown", {"uri": url})


OURS = "Kindly: read_page"
_KINDLY = (str(SCRIPTS / "kindly-web-search-mcp-server"), "start-mcp-server")
_OPENED = {"KINDLY_ALLOW_PRIVATE": "127.0.0.1:{port}", "KINDLY_BROWSER": "off"}
SERVERS = (
    Server(OURS, _KINDLY, _read, environ=_OPENED),
    Server("Kindly: read_page, 3 passages", _KINDLY, _read_little, environ=_OPENED),
    Server(
        "Kindly: read_page, then get_content",
        _KINDLY,
        _read_then_get,
        environ=_OPENED,
        goes_on=True,
    ),
    Server(
        "duckduckgo-mcp-server",
        (_pypi_script("duckduckgo-mcp-server"),),
        _paged("fetch_content", "start_index", DUCKDUCKGO_CHARS),
        ("duckduckgo-mcp-server",),
        environ={"DDG_ALLOW_PRIVATE_URLS": "1", "DDG_FETCH_RPM": "100000"},
    ),
    Server(
        "mcp-searxng",
        (_npm_script("mcp-searxng"),),
        _paged("web_url_read", "startChar", DUCKDUCKGO_CHARS, maxLength=DUCKDUCKGO_CHARS),
        ("mcp-searxng",),
        npm=True,
        environ={"SEARXNG_URL": "http://127.0.0.1:{port}", "MCP_HTTP_ALLOW_PRIVATE_URLS": "true"},
    ),
    Server(
        "markitdown-mcp",
        (_pypi_script("markitdown-mcp"),),
        _whole,
        ("markitdown-mcp",),
    ),
    Server(
        "mcp-server-fetch",
        (_pypi_script("mcp-server-fetch"), "--allow-private-ips"),
        _paged("fetch", "start_index", FETCH_CHARS),
        ("mcp-server-fetch",),
    ),
    Server(
        "open-websearch",
        (_npm_script("open-websearch"),),
        _paged("fetchWebContent", "start", DUCKDUCKGO_CHARS),
        ("open-websearch",),
        npm=True,
    ),
)
