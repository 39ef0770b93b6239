"""Kindly: search the web, fetch a page, and read only the part that answers a question."""

from typing import TYPE_CHECKING

from kindly.version import SERVER_NAME, __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from kindly.api import Kindly
    from kindly.settings import Settings

__all__ = ["SERVER_NAME", "__version__", "open"]


def open(
    settings: "Settings | Mapping[str, str] | None" = None,
) -> "AbstractAsyncContextManager[Kindly]":
    """Open the Python API, see `kindly.api`. Its modules are imported by this call, not with the package."""
    from kindly.api import open_kindly

    return open_kindly(settings)
