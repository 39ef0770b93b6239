"""URL → Page: the web, fetched politely and only where it is public. Importing this is cheap."""

from kindly.fetch.chain.types import FetchLimits
from kindly.fetch.fetcher import Fetcher, Seams, open_fetcher
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import GuardPolicy

__all__ = ["Egress", "FetchLimits", "Fetcher", "GuardPolicy", "Seams", "open_fetcher"]
