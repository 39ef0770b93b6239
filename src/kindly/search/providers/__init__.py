"""The list of search providers, in the order in which they are called by default."""

from kindly.search.provider import ProviderSpec
from kindly.search.providers import (
    brave,
    duckduckgo,
    google,
    searxng,
    searxng_pool,
    serper,
    tavily,
)

PROVIDERS: tuple[ProviderSpec, ...] = (
    serper.SPEC,
    tavily.SPEC,
    brave.SPEC,
    google.SPEC,
    searxng.SPEC,
    searxng_pool.SPEC,
    duckduckgo.SPEC,
)


def preferred_first(name: str) -> list[str]:
    """The names of all providers, this one before the others."""
    return [name, *(spec.name for spec in PROVIDERS if spec.name != name)]
