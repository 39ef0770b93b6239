"""The catalogue of search providers. Its order is the order in which they are asked by default."""

from kindly.search.provider import ProviderSpec
from kindly.search.providers import serper, tavily

PROVIDERS: tuple[ProviderSpec, ...] = (serper.SPEC, tavily.SPEC)
