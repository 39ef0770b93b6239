"""URL → Page: the web, fetched politely and only where it is public. Importing this is cheap."""

from kindly.fetch.calls import Egress, FetchLimits, Times
from kindly.fetch.fetcher import Fetcher, Seams, open_fetcher
from kindly.fetch.guard import GuardPolicy

__all__ = ["Egress", "FetchLimits", "Fetcher", "GuardPolicy", "Seams", "Times", "open_fetcher"]
