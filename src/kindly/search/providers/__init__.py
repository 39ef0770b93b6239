"""The catalogue of search providers. Its order is the order in which they are asked by default."""

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
