"""Drivers: ways to have a browser, each a program that runs in a worker process. The first one installed is taken."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class DriverSpec(NamedTuple):
    """One driver."""

    program: str
    """The module that a worker process runs."""
    package: str
    """What must be installed for it."""
    remedy: str
    """How that is installed."""


DRIVERS: Mapping[str, DriverSpec] = MappingProxyType(
    {
        "playwright": DriverSpec(
            "kindly.fetch.browser.drivers.playwright",
            "playwright",
            "pip install 'kindly-web-search-mcp-server[browser]'",
        ),
        "nodriver": DriverSpec(
            "kindly.fetch.browser.drivers.nodriver",
            "nodriver",
            "pip install nodriver (its licence is AGPL-3)",
        ),
    }
)
