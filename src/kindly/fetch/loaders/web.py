"""Any page of the web: what its address answers."""

from dataclasses import dataclass

from kindly.fetch.loader_kit.loader import LoaderClient
from kindly.models import Page
from kindly.needs import Need
from kindly.urls import Url


@dataclass(frozen=True, slots=True)
class WebPage:
    """Loads every address as it is."""

    name: str = "web"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = ()

    def matches(self, url: Url) -> bool:
        """Always: it is the last in the list."""
        return bool(url.host)

    async def load(self, url: Url, get: LoaderClient) -> Page:
        """The page at the wanted address."""
        return await get.page(url)


WEB = WebPage()
