"""How another program starts this one: from how it was installed, the command that has it again tomorrow. Pure."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

DISTRIBUTION = "kindly-web-search-mcp-server"
EXTRAS = {
    "browser": "playwright",
    "duckdb": "duckdb",
    "embed": "fastembed",
    "keyless": "ddgs",
    "office": "pptx",
    "otel": "opentelemetry.sdk",
    "postgres": "psycopg",
}
"""What can be installed beside it, and the module that tells whether it is."""
PASSING = re.compile(r"[/\\](?:archive|environments)-v\d+[/\\]")
"""Of a folder that `uvx` made and may tidy away."""
UVX_ENVIRON = {"UV_COMPILE_BYTECODE": "1"}
"""Without compiled files the first start takes half as long again."""


@dataclass(frozen=True, slots=True)
class Install:
    """How this program came to be here."""

    origin: str | None
    """`direct_url.json` of its distribution; None if it is from an index."""
    executable: str
    """The interpreter that runs it."""
    extras: tuple[str, ...] = ()

    @property
    def passing(self) -> bool:
        """Whether the interpreter's folder may be gone tomorrow."""
        return PASSING.search(self.executable) is not None


def extras_there(is_installed: Callable[[str], bool]) -> tuple[str, ...]:
    """The extras whose packages are installed."""
    return tuple(extra for extra, module in EXTRAS.items() if is_installed(module))


def launcher(install: Install, uvx: str | None) -> tuple[str, ...]:
    """The command in front of `start-mcp-server`: `uvx` where it can fetch the same again, else this interpreter."""
    here = (install.executable, "-m", "kindly")
    source = _source(install)
    if uvx is None or source is None:
        return here
    if source == DISTRIBUTION:
        return uvx, DISTRIBUTION
    return uvx, "--from", source, DISTRIBUTION


def is_uvx(command: Sequence[str]) -> bool:
    """Whether a command is one of `uvx`."""
    return Path(command[0]).stem == "uvx"


def _source(install: Install) -> str | None:
    """What `uvx` is to install; None where this interpreter is the better choice."""
    extras = f"[{','.join(install.extras)}]" if install.extras else ""
    named = f"{DISTRIBUTION}{extras}"
    if install.origin is None:
        return named
    origin = json.loads(install.origin)
    url = str(origin["url"])
    if (vcs := origin.get("vcs_info")) is not None:
        revision = vcs.get("requested_revision")
        at = f"@{revision}" if revision else ""
        address = f"{vcs['vcs']}+{url}{at}"
        return f"{named} @ {address}" if extras else address
    if urlsplit(url).scheme != "file":
        return f"{named} @ {url}" if extras else url
    return f"{url2pathname(urlsplit(url).path)}{extras}" if install.passing else None
