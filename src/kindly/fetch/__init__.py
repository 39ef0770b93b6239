"""URL → Page: rate-limited fetching of public addresses. Importing this package is cheap."""

from kindly.fetch.chain.types import FetchLimits
from kindly.fetch.fetcher import Fetcher, Seams, open_fetcher
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import GuardPolicy

__all__ = ["Egress", "FetchLimits", "Fetcher", "GuardPolicy", "Seams", "open_fetcher"]
