"""Browser drivers: programs that run in a worker process. `auto` takes the first one whose package is installed."""

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal, NamedTuple

from kindly.version import SERVER_NAME

DriverName = Literal["playwright", "nodriver"]


class DriverSpec(NamedTuple):
    """A driver and its package."""

    program: str
    """The module that a worker process runs."""
    package: str
    """The package that must be installed."""
    remedy: str
    """How to install it."""


DRIVERS: Mapping[DriverName, DriverSpec] = MappingProxyType(
    {
        "playwright": DriverSpec(
            "kindly.fetch.browser.drivers.playwright",
            "playwright",
            f"pip install '{SERVER_NAME}[browser]'",
        ),
        "nodriver": DriverSpec(
            "kindly.fetch.browser.drivers.nodriver",
            "nodriver",
            "pip install nodriver (its licence is AGPL-3)",
        ),
    }
)


def is_installed(package: str) -> bool:
    """Whether a driver's package can be imported."""
    return find_spec(package) is not None
