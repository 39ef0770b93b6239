"""URL → Page: rate-limited fetching of public addresses.

Its names are imported when they are used: settings read specs below this package at every start.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kindly.fetch.chain.types import FetchLimits
    from kindly.fetch.fetcher import Fetcher, Seams, open_fetcher
    from kindly.fetch.guard.egress import Egress
    from kindly.fetch.guard.guard import GuardPolicy

__all__ = ["Egress", "FetchLimits", "Fetcher", "GuardPolicy", "Seams", "open_fetcher"]


def __getattr__(name: str) -> Any:
    """A public name of this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kindly.fetch.chain.types import FetchLimits
    from kindly.fetch.fetcher import Fetcher, Seams, open_fetcher
    from kindly.fetch.guard.egress import Egress
    from kindly.fetch.guard.guard import GuardPolicy

    public = (Egress, FetchLimits, Fetcher, GuardPolicy, Seams, open_fetcher)
    return dict(zip(__all__, public, strict=True))[name]
