"""Any page of the web: what its address answers."""

from dataclasses import dataclass

from kindly.fetch.calls import Fetch, Wanted
from kindly.models import Page
from kindly.urls import Url


@dataclass(frozen=True, slots=True)
class Web:
    """Loads every address as it is."""

    name: str = "web"

    def matches(self, url: Url) -> bool:
        """Always: it is the last in the list."""
        return bool(url.host)

    async def load(self, wanted: Wanted, get: Fetch) -> Page:
        """The page at the wanted address."""
        return await get(wanted)


WEB = Web()
