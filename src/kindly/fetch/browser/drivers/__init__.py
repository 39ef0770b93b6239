"""Browser drivers: programs that run in a worker process. `auto` takes the first one whose package is installed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class DriverSpec(NamedTuple):
    """A driver and its package."""

    program: str
    """The module that a worker process runs."""
    package: str
    """The package that must be installed."""
    remedy: str
    """How to install it."""


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
