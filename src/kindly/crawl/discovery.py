"""Which pages a site has: `llms-full.txt` or `llms.txt` first, then sitemaps, then links from the first page.

Everything is fetched through the guarded chain: robots.txt, pacing, size limits and the SSRF guard apply.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from kindly import urls
from kindly.crawl.llms_txt import FullPage, links_of, pages_of
from kindly.crawl.origin import OriginKind
from kindly.crawl.scope import SiteScope
from kindly.crawl.sitemap import named_in_robots, read_sitemap
from kindly.errors import FetchError, InputError
from kindly.frozen import frozen
from kindly.models import Page
from kindly.read.crawls.collection import PageTask
from kindly.urls import Url

Get = Callable[[Url], Awaitable[Page]]
"""Fetches a file; raises a leaf of `FetchError`."""
MAX_SITEMAPS = 200
MIN_LISTED = 2
"""A list with fewer pages of the site is not its table of contents."""
MARKUP = b"<"


@frozen
class Discovered:
    """The pages of a site."""

    via: str
    tasks: tuple[PageTask, ...] = ()
    full: tuple[FullPage, ...] = ()
    """Pages whose text is known already."""


@dataclass(slots=True)
class Discovery:
    """Finds the pages of one site."""

    get: Get
    scope: SiteScope
    _robots: str | None = field(default=None, init=False)

    async def find(self, kind: OriginKind = OriginKind.SITE) -> Discovered:
        """The pages, found in the first way that lists some."""
        start = self.scope.start
        if kind is OriginKind.SITEMAP:
            return Discovered("sitemap", await self._from_sitemaps([str(start)]))
        for way in (self._from_llms_full, self._from_llms, self._from_sitemap):
            if found := await way():
                return found
        return Discovered("links", (PageTask(str(start)),))

    async def _from_llms_full(self) -> Discovered | None:
        for address in self._beside("llms-full.txt"):
            page = await self._file(address)
            if page is None or page.cut or _is_markup(page):
                continue
            pages = pages_of(page.body.decode("utf-8", "replace"))
            own = [one for one in pages if self.scope.parsed(one.url) is not None]
            if len(own) >= MIN_LISTED:
                return Discovered("llms-full.txt", full=tuple(_once(own)))
        return None

    async def _from_llms(self) -> Discovered | None:
        for address in self._beside("llms.txt"):
            page = await self._file(address)
            if page is None or _is_markup(page):
                continue
            base = urls.parse(page.url)
            linked = links_of(page.body.decode("utf-8", "replace"))
            own = self.scope.listed(filter(None, (_joined(base, one) for one in linked)))
            if len(own) >= MIN_LISTED:
                return Discovered("llms.txt", tuple(map(PageTask, own)))
        return None

    async def _from_sitemap(self) -> Discovered | None:
        named = named_in_robots(await self.robots())
        usual = [*self._beside("sitemap.xml"), *self._beside("sitemap_index.xml")]
        for addresses in (named, *([one] for one in usual)):
            tasks = await self._from_sitemaps(addresses)
            if len(tasks) >= MIN_LISTED:
                return Discovered("sitemap", tasks)
        return None

    async def _from_sitemaps(self, addresses: list[str]) -> tuple[PageTask, ...]:
        """The pages of these sitemaps and of those that they name."""
        found: dict[str, str] = {}
        waiting, seen = list(addresses), set[str]()
        while waiting and len(seen) < MAX_SITEMAPS:
            address = waiting.pop(0)
            page = None if address in seen else await self._file(address)
            seen.add(address)
            if page is None:
                continue
            sitemap = read_sitemap(page.body)
            waiting += sitemap.sitemaps
            for url, lastmod in sitemap.pages.items():
                if (parsed := self.scope.parsed(url)) is not None:
                    found.setdefault(str(parsed), lastmod)
        return tuple(PageTask(url, lastmod=lastmod) for url, lastmod in found.items())

    async def robots(self) -> str:
        """The robots.txt of the site; empty if there is none."""
        if self._robots is None:
            page = await self._file(f"{self.scope.start.origin}/robots.txt")
            self._robots = "" if page is None else page.body.decode("utf-8", "replace")
        return self._robots

    def _beside(self, name: str) -> list[str]:
        """Where a file of the site may be: in the folder of the start, then at the root."""
        start = self.scope.start
        if start.target.endswith(f"/{name}"):
            return [str(start)]
        places = (f"{start.origin}{self.scope.prefix}/{name}", f"{start.origin}/{name}")
        return list(dict.fromkeys(places))

    async def _file(self, address: str) -> Page | None:
        """A file; None if it cannot be fetched."""
        try:
            return await self.get(urls.parse(address))
        except (FetchError, InputError):
            return None


def crawl_delay_s(robots: str) -> float:
    """The seconds between two requests that a robots.txt asks for."""
    if not robots:
        return 0.0
    from protego import Protego

    from kindly.fetch.chain.robots import MAX_DELAY_S, USER_AGENT_TOKEN

    delay = Protego.parse(robots).crawl_delay(USER_AGENT_TOKEN)
    return min(float(delay or 0.0), MAX_DELAY_S)


def _once(pages: Iterable[FullPage]) -> list[FullPage]:
    return list({page.url: page for page in pages}.values())


def _is_markup(page: Page) -> bool:
    """Whether a site answered with a web page instead of a text file."""
    return page.body.lstrip()[:1] == MARKUP


def _joined(base: Url, address: str) -> str:
    try:
        return str(urls.join(base, address.partition("#")[0]))
    except InputError:
        return ""
