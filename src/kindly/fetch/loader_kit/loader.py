"""Loaders: sources that offer their content in a better way than their web pages, such as an API.

The first loader that matches a URL loads it. If it fails, the next one is tried, and at the end the plain page. A
loader is one file in `loaders/` with one constant, its line in the tuple there, and `tests/data/loaders/<name>/` with
recorded answers and `urls.txt`, the URLs that it loads, one per line:

    @frozen
    class Example:
        name: str = "example"
        tokens: tuple[Need, ...] = (Need("EXAMPLE_TOKEN", "secret", "Raises the limits of Example; optional."),)
        base_urls: tuple[tuple[str, str], ...] = (("EXAMPLE_API_URL", "https://api.example"),)

        def matches(self, url: Url) -> bool:
            return url.host == "example.com" and url.target.startswith("/thing/")

        async def load(self, url: Url, client: LoaderClient) -> Page:
            api_url = client.address("EXAMPLE_API_URL", "/things/7", {"full": "1"})
            token = client.token("EXAMPLE_TOKEN")
            headers = (("Authorization", f"Bearer {token}"),) if token else ()
            thing = JsonFields.of(await client.json(api_url, headers))
            text = document(heading(1, thing.needed("title")), thing.text("body"))
            return markdown_page(url, text, client.now)

    EXAMPLE = Example()

`JsonFields` (`json_fields.py`) reads an answer and raises if it is not as documented; `markdown_parts.py` writes
Markdown; a source whose bodies are HTML returns `html_page` and leaves the Markdown to extraction. Any `KindlyError`
that a loader raises leaves the page to the next one.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Protocol

import anyio

from kindly.errors import KindlyError, PageUnreachable
from kindly.fetch.chain.types import Fetch, Headers, HopReply, PageRequest
from kindly.fetch.loader_kit.host_probes import HostProbes
from kindly.frozen import frozen
from kindly.models import FetchMethod, How, Page
from kindly.plugin_settings import Need
from kindly.redact import Secret
from kindly.urls import Url

LOADER_SHARE = 0.6
"""The part of the remaining time that a loader may use; the rest is for the plain page."""

log = logging.getLogger(__name__)


class NotLoaded(PageUnreachable):
    """A loader gives up: the source's answer is not as documented, or lacks what the loader needs."""


@frozen
class LoaderSettings:
    """The user's settings for loaders, by the names that the loaders declare."""

    tokens: Mapping[str, Secret] = field(default_factory=dict)
    base_urls: Mapping[str, str] = field(default_factory=dict)


class LoaderClient(Protocol):
    """The HTTP client of a loader: every request has the same guard, rate limits, size limits and redirects."""

    @property
    def now(self) -> datetime:
        """The time to write into a page."""

    @property
    def probes(self) -> HostProbes:
        """What this loader learned about hosts while the app runs."""

    def token(self, setting: str) -> str | None:
        """The secret of that name, if the user set one. Send it in a header only."""

    def address(self, setting: str, path: str, query: Mapping[str, str] | None = None) -> Url:
        """`path` (percent-encoded already) and `query` (not yet) below the base URL of a setting.

        `{word}` in a base URL is replaced by the query's `{word}`, which then leaves the query.
        """

    async def page(self, url: Url) -> Page:
        """Any page; robots.txt applies. Raises a leaf of `FetchError`."""

    async def api(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> HopReply:
        """An API's response with a 2xx status; robots.txt does not apply to APIs.

        Headers do not follow a redirect to another origin. A `body` is posted as JSON. An API whose quota is exhausted
        is not called before its reset.

        Raises:
            PageRateLimited: the quota is exhausted.
            FetchError: another leaf, without the query of `url`.
        """

    async def json(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> object:
        """The same, decoded; raises `NotLoaded` if it is not JSON."""

    def cool_down(self, url: Url, wait_s: float) -> None:
        """Do not call the API at `url`'s origin for that long: it asked for it in its own way."""


class Loader(Protocol):
    """Loads the pages of one kind of source."""

    @property
    def name(self) -> str:
        """The name of its file; `how` shows it."""

    @property
    def tokens(self) -> tuple[Need, ...]:
        """Settings with a secret that it can use; it works without."""

    @property
    def base_urls(self) -> tuple[tuple[str, str], ...]:
        """Settings with a base URL, and their defaults."""

    def matches(self, url: Url) -> bool:
        """Whether it loads this URL; decided from the URL alone."""

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The page; any `KindlyError` leaves it to the next loader."""


OpenLoaderClient = Callable[[Loader, PageRequest], LoaderClient]


class Loaders:
    """Fetches a page through the first loader that succeeds, or else as the plain page.

    The requested URL is already checked by the guard: a loader may reach its content on another host.
    """

    def __init__(
        self, loaders: Sequence[Loader], open_client: OpenLoaderClient, plain_page: Fetch
    ) -> None:
        self._loaders = tuple(loaders)
        self._open_client = open_client
        self._plain_page = plain_page

    async def __call__(self, request: PageRequest) -> Page:
        """The page.

        Raises:
            FetchError: the plain page's failure.
        """
        for loader in self._loaders:
            if loader.matches(request.url):
                page = await self._try(loader, request)
                if page is not None:
                    return page
        return await self._plain_page(request)

    async def _try(self, loader: Loader, request: PageRequest) -> Page | None:
        """A loader's page within its share of the time; None if it gives up."""
        seconds = request.deadline.remaining_s() * LOADER_SHARE
        within = replace(request, deadline=request.deadline.within(seconds), known=None)
        try:
            with anyio.fail_after(seconds):
                page = await loader.load(request.url, self._open_client(loader, within))
        except (KindlyError, TimeoutError) as error:
            log.debug("loader %s gave up: %s", loader.name, type(error).__name__)
            return None
        how = How(FetchMethod.LOADER, loader.name)
        return replace(page, requested_url=str(request.url), how=how, composed=True)
