"""Loaders: sources with a better way to their content than the page itself. First match wins; the
web page is last.

A loader is one file in `loaders/` with one constant, its line in the tuple there, and
`tests/data/loaders/<name>/` with recorded answers and `urls.txt`, the addresses that it loads, one
a line:

    @dataclass(frozen=True, slots=True)
    class Example:
        name: str = "example"
        tokens: tuple[Need, ...] = (Need("EXAMPLE_TOKEN", "secret", "Raises the limits of Example; optional."),)
        base_urls: tuple[tuple[str, str], ...] = (("EXAMPLE_API_URL", "https://api.example"),)

        def matches(self, url: Url) -> bool:
            return url.host == "example.com" and url.target.startswith("/thing/")

        async def load(self, url: Url, get: Get) -> Page:
            asked = get.address("EXAMPLE_API_URL", "/things/7", {"full": "1"})
            token = get.token("EXAMPLE_TOKEN")
            headers = (("Authorization", f"Bearer {token}"),) if token else ()
            thing = Fields.of(await get.json(asked, headers))
            text = document(heading(1, thing.needed("title")), thing.text("body"))
            return markdown_page(url, text, get.now)

    EXAMPLE = Example()

`Fields` (`fields.py`) reads an answer and gives up when it is not as documented; `layout.py` lays
text out; a source whose bodies are HTML answers with `html_page` and leaves the Markdown to
extraction. Whatever a loader raises as a `KindlyError` leaves the page to the next one.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

import anyio

from kindly.errors import KindlyError, PageUnreachable
from kindly.fetch.chain.types import Headers, HopReply, PageRequest
from kindly.models import FetchMethod, How, Page
from kindly.needs import Need
from kindly.redact import Secret
from kindly.urls import Url

LOADER_SHARE = 0.6
"""How much of a call's time a loader may use; the rest is for the page itself."""

log = logging.getLogger(__name__)


class NotLoaded(PageUnreachable):
    """A loader gives up: the source's answer is not as documented, or it lacks what it needs."""


@dataclass(frozen=True, slots=True)
class LoaderSettings:
    """What the user set for loaders: by the names that they declare."""

    tokens: Mapping[str, Secret] = field(default_factory=dict)
    base_urls: Mapping[str, str] = field(default_factory=dict)


class LoaderClient(Protocol):
    """How a loader gets things: everything goes through the same guard, pace, caps and redirects."""

    @property
    def now(self) -> datetime:
        """The time that goes into a page."""

    def token(self, setting: str) -> str | None:
        """The secret of that name, if the user set one. It belongs in a header of one request."""

    def address(self, setting: str, path: str, query: Mapping[str, str] | None = None) -> Url:
        """`path` (percent-encoded already) and `query` (not yet) below the base URL of a setting.

        `{word}` in a base URL is filled from the query's `{word}` and then not part of the query.
        """

    async def page(self, url: Url) -> Page:
        """Any page, robots.txt respected; raises a leaf of `FetchError`."""

    async def api(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> HopReply:
        """An API's answer with a 2xx status; robots.txt is not for APIs and not asked.

        Headers do not follow a redirect to another origin. A `body` is posted as JSON. An API that
        is exhausted is not asked until it says.

        Raises:
            PageRateLimited: it is exhausted.
            FetchError: another leaf, without the query of `url`.
        """

    async def json(self, url: Url, headers: Headers = (), *, body: bytes | None = None) -> object:
        """The same, decoded; raises `NotLoaded` when it is no JSON."""

    def rest(self, url: Url, seconds: float) -> None:
        """Leave the API at `url`'s origin alone for that long: it said so in its own way."""


class Loader(Protocol):
    """One way to get the pages of one kind of source."""

    @property
    def name(self) -> str:
        """A word for it, the name of its file; `how` shows it."""

    @property
    def tokens(self) -> tuple[Need, ...]:
        """Settings with a secret that it can use; it works without."""

    @property
    def base_urls(self) -> tuple[tuple[str, str], ...]:
        """Settings with an address of it, and what they are when not set."""

    def matches(self, url: Url) -> bool:
        """Whether it knows this address; decided from the address alone."""

    async def load(self, url: Url, get: LoaderClient) -> Page:
        """The page, had through `get`; any `KindlyError` leaves it to the next loader."""


OpenLoaderClient = Callable[[Loader, PageRequest], LoaderClient]
"""Makes what a loader gets things with; the wanted page's validators go along with `page`."""


class Loaders:
    """Gets a page through the first loader that matches; one that fails yields to the next."""

    def __init__(
        self, loaders: Sequence[Loader], open_get: OpenLoaderClient, check: Callable[[Url], None]
    ) -> None:
        self._loaders = tuple(loaders)
        self._open_get = open_get
        self._check = check

    async def __call__(self, wanted: PageRequest) -> Page:
        """The page; raises what the last loader raised.

        Raises:
            AddressRefused: the wanted address itself may not be fetched, by whatever way.
        """
        self._check(wanted.url)
        matching = [loader for loader in self._loaders if loader.matches(wanted.url)]
        for loader in matching[:-1]:
            page = await self._tried(loader, wanted)
            if page is not None:
                return page
        last = matching[-1]
        return await last.load(wanted.url, self._open_get(last, wanted))

    async def _tried(self, loader: Loader, wanted: PageRequest) -> Page | None:
        """What a loader got, within its share of the time."""
        seconds = wanted.deadline.remaining_s() * LOADER_SHARE
        within = replace(wanted, deadline=wanted.deadline.within(seconds), known=None)
        try:
            with anyio.fail_after(seconds):
                page = await loader.load(wanted.url, self._open_get(loader, within))
        except (KindlyError, TimeoutError) as error:
            log.debug("loader %s gave up: %s", loader.name, type(error).__name__)
            return None
        how = How(FetchMethod.LOADER, loader.name)
        return replace(page, requested_url=str(wanted.url), how=how, composed=True)
