"""The command with which another program starts this one, derived from how it was installed. Pure."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import kindly
from kindly.frozen import frozen
from kindly.read.stores import STORES
from kindly.search.providers import PROVIDERS

DISTRIBUTION = kindly.SERVER_NAME
BROWSER = "browser"
EXTRAS = {
    BROWSER: "playwright",
    "ocr": "rapidocr",
    "office": "pptx",
    "otel": "opentelemetry.sdk",
    **{spec.extra: spec.module for spec in STORES if spec.extra},
    **{extra: module for spec in PROVIDERS if spec.library for module, extra in [spec.library]},
}
"""The extras, and for each the module that shows that it is installed."""
TEMPORARY = re.compile(r"[/\\](?:archive|environments)-v\d+[/\\]")
"""In the path of a folder that `uvx` made and may delete."""
UVX_ENVIRON = {"UV_COMPILE_BYTECODE": "1"}
"""Without compiled files the first start takes 1.5 times as long."""


@frozen
class Install:
    """How this program was installed."""

    origin: str | None
    """`direct_url.json` of its distribution; None if it is from an index."""
    executable: str
    """The interpreter that runs it."""
    extras: tuple[str, ...] = ()

    @property
    def is_temporary(self) -> bool:
        """Whether `uvx` may delete the interpreter's folder."""
        return TEMPORARY.search(self.executable) is not None

    def with_browser(self) -> "Install":
        """The same with the extra that installs a browser driver."""
        return replace(self, extras=tuple(sorted({*self.extras, BROWSER})))


def installed_extras(is_installed: Callable[[str], bool]) -> tuple[str, ...]:
    """The extras whose packages are installed."""
    return tuple(extra for extra in sorted(EXTRAS) if is_installed(EXTRAS[extra]))


def launcher(install: Install, uvx: str | None) -> tuple[str, ...]:
    """The command before `start-mcp-server`: `uvx` if it can install the same again, else this interpreter."""
    here = (install.executable, "-m", "kindly")
    source = _source(install)
    if uvx is None or source is None:
        return here
    if source == DISTRIBUTION:
        return uvx, DISTRIBUTION
    return uvx, "--from", source, DISTRIBUTION


def installs_browser(command: Sequence[str]) -> bool:
    """Whether a `uvx` command installs the extra with a browser driver."""
    return any(
        BROWSER in extras.split(",") for extras in re.findall(r"\[(.*?)\]", " ".join(command))
    )


def is_uvx(command: Sequence[str]) -> bool:
    """Whether a command starts `uvx`."""
    return Path(command[0]).stem == "uvx"


def _source(install: Install) -> str | None:
    """What `uvx` installs; None if this interpreter is the better choice."""
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
    return f"{url2pathname(urlsplit(url).path)}{extras}" if install.is_temporary else None
