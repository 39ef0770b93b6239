"""A small documentation site for crawls: pages with ETags that link to each other, and a count of the bodies sent."""

from collections import Counter
from dataclasses import dataclass, field

from anyio.abc import SocketStream

from tests.support.site import Answer, Site, SiteRequest, html

FILLER = (
    "It explains in some detail how this part of the program is configured and what depends on it."
)


@dataclass
class DocsSite:
    """Pages `/docs/p0`, `/docs/p1`, …; `/docs/` links to all of them in its navigation."""

    site: Site
    pages: int = 5
    versions: Counter[int] = field(default_factory=Counter)
    bodies: Counter[str] = field(default_factory=Counter)
    """How often the body of a path was sent."""

    def __post_init__(self) -> None:
        self.site.add("/docs/", self._index)
        for number in range(self.pages):
            self.site.add(f"/docs/p{number}", self._page)

    @property
    def start(self) -> str:
        return self.site.url("/docs/")

    @property
    def addresses(self) -> list[str]:
        return [self.site.url(f"/docs/p{number}") for number in range(self.pages)]

    def change(self, *numbers: int) -> None:
        """Change the text of these pages."""
        self.versions.update(numbers)

    def sitemap(self, **dates: str) -> Answer:
        """A sitemap of all pages; `p1="2026-01-01"` is the date of a page."""
        rows = "".join(
            f"<url><loc>{address}</loc><lastmod>{dates.get(address.rpartition('/')[2], '2020-01-01')}</lastmod></url>"
            for address in self.addresses
        )
        return Answer(f"<urlset>{rows}</urlset>".encode(), headers={"Content-Type": "text/xml"})

    async def _index(self, request: SiteRequest, stream: SocketStream) -> Answer:
        nav = "".join(f'<a href="p{number}">Page {number}</a>' for number in range(self.pages))
        return self._answer(request, "Index", f"<nav>{nav}</nav>", self.pages)

    async def _page(self, request: SiteRequest, stream: SocketStream) -> Answer:
        number = int(request.path.rpartition("/p")[2])
        return self._answer(request, f"Page {number}", "", self.versions[number])

    def _answer(self, request: SiteRequest, title: str, nav: str, version: int) -> Answer:
        etag = f'"{title}-{version}"'
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        self.bodies[request.path] += 1
        text = f"<h1>{title}</h1><p>{title} is about widget {title[-1]}, revision {version}. {FILLER}</p>"
        return html(f"<title>{title}</title>{nav}<main>{text}</main>", etag=etag)
