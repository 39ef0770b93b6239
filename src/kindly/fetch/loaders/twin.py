"""Markdown twins: documentation sites that offer each page as Markdown too (`/guide` and `/guide.md`), and `llms.txt`.

Each host is probed once for twins; a host without them is not probed again for a day.
"""

import re
from dataclasses import replace

import anyio

from kindly.errors import FetchError
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

LLMS = re.compile(r"/llms(?:-[a-z]{1,10})?\.txt\Z")
DOCS_LABELS = frozenset(
    {"docs", "doc", "documentation", "developer", "developers", "devdocs", "learn", "guide"}
)
DOCS_HOSTS = (
    ".readthedocs.io",
    ".readthedocs.org",
    ".gitbook.io",
    ".mintlify.app",
    ".mintlify.dev",
)
DOCS_SEGMENTS = frozenset(
    {
        "docs",
        "doc",
        "documentation",
        "guide",
        "guides",
        "reference",
        "manual",
        "handbook",
        "tutorial",
        "tutorials",
    }
)
PAGE = re.compile(r"(?:/[^/.?]*|/[^/?]*\.html?)\Z")
"""The last path segment, without an extension or with that of a web page."""
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown", "text/plain"})
MARKUP = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype|html|head|body|\?xml|script|div)", re.I | re.S
)
MIN_BYTES = 80
PROBE_S = 4.0
"""The longest delay of a page by the first probe of its host."""


@frozen
class Twin:
    """Loads the Markdown twin of a documentation page."""

    name: str = "twin"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = ()
    probe_s: float = PROBE_S

    def matches(self, url: Url) -> bool:
        return is_llms(url) or is_documentation(url)

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The twin.

        Raises:
            NotLoaded: there is none, or the host is known to have none.
        """
        if is_llms(url):
            return _as_markdown(await client.page(url))
        known = client.probes.has(url.netloc, client.now)
        if known is False:
            raise NotLoaded("The host has no Markdown twins.", url=str(url))
        twin = await _known_twin(url, client) if known else await self._first_twin(url, client)
        return replace(twin, url=str(url), etag=None, last_modified=None)

    async def _first_twin(self, url: Url, client: LoaderClient) -> Page:
        """Probe an unknown host once; until it answers, it counts as one without twins."""
        client.probes.note(url.netloc, client.now, found=False)
        with anyio.move_on_after(self.probe_s):
            page = _as_markdown(await client.page(twins_of(url)[0]))
            client.probes.note(url.netloc, client.now, found=True)
            return page
        raise NotLoaded("The host took too long to return a Markdown twin.", url=str(url))


async def _known_twin(url: Url, client: LoaderClient) -> Page:
    """The twin at a host that has twins, under either spelling."""
    usual, other = twins_of(url)
    try:
        return _as_markdown(await client.page(usual))
    except FetchError:
        return _as_markdown(await client.page(other))


def is_llms(url: Url) -> bool:
    """Whether the URL is a site's `llms.txt`."""
    return LLMS.search(url.target) is not None


def is_documentation(url: Url) -> bool:
    """Whether a URL looks like a documentation page; one with a query does not."""
    if (
        url.address is not None
        or "?" in url.target
        or not PAGE.search(url.target.rstrip("/") or "/")
    ):
        return False
    segments = {part for part in url.target.lower().split("/") if part}
    if not segments:
        return False
    labels = url.host.split(".")
    if labels[0] in DOCS_LABELS and len(labels) > 2:
        return True
    named = not segments.isdisjoint(DOCS_SEGMENTS)
    return url.host.endswith(DOCS_HOSTS) or (named and len(labels) > 1)


def twins_of(url: Url) -> tuple[Url, Url]:
    """Possible URLs of a page's twin, the likelier one first."""
    stem = re.sub(r"(?:/index)?(?:\.html?)?/?\Z", "", url.target)
    beside, within = replace(url, target=f"{stem}.md"), replace(url, target=f"{stem}/index.md")
    return (within, beside) if url.target.endswith("/") else (beside, within)


def is_markdown(page: Page) -> bool:
    """Whether a response is Markdown, by its type, its first bytes and its length."""
    return (
        page.media_type in MARKDOWN_TYPES
        and len(page.body.strip()) >= MIN_BYTES
        and not MARKUP.match(page.body)
        and b"\x00" not in page.body[:4096]
    )


def _as_markdown(page: Page) -> Page:
    if not is_markdown(page):
        raise NotLoaded("The file is not Markdown.", url=page.url)
    return replace(page, media_type="text/markdown")


TWIN = Twin()
