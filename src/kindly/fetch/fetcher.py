"""The fetch stage: page cache → loaders → redirects → robots.txt → retry → rate limits → one HTTP request.

Opening it is cheap: the HTTP client, TLS and the cache file are opened with the first page.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.concurrency.background_tasks import background_tasks
from kindly.errors import PageNotFound, PageTimeout, PageUnreachable
from kindly.fetch.chain.host_pacing import PacedHop
from kindly.fetch.chain.page_cache import CachedFetch
from kindly.fetch.chain.page_store import SqlitePageCache
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.retry import RetryingHop
from kindly.fetch.chain.robots import RobotsHop, truncated
from kindly.fetch.chain.types import (
    Fetch,
    FetchLimits,
    Hop,
    HopReply,
    HopRequest,
    Logins,
    PageRequest,
)
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import Guard, GuardPolicy, Resolver, system_resolver
from kindly.fetch.loader_kit.loader import Loaders, LoaderSettings
from kindly.fetch.loader_kit.loader_client import LoaderChains
from kindly.fetch.loaders import LOADERS
from kindly.frozen import frozen
from kindly.models import Page
from kindly.storage.sqlite import MEMORY
from kindly.telemetry.warn_once import WarnOnce
from kindly.urls import Url

if TYPE_CHECKING:
    from httpcore2 import AsyncNetworkBackend

    from kindly.fetch.chain.http_client import HttpHop
    from kindly.fetch.chain.wayback import WaybackMachine

Value = TypeVar("Value")
NO_STORE = "no-store"


@frozen
class Seams:
    """Network, clock and warnings, passed in so that tests can replace them."""

    resolver: Resolver = system_resolver
    dialler: "AsyncNetworkBackend | None" = None
    """Opens connections to addresses that the guard checked; the network by default."""
    clock: Clock = field(default_factory=Clock)
    warn: WarnOnce = field(default_factory=WarnOnce)
    """Called when the page cache fails."""
    wrap_http: Callable[[Hop], Hop] | None = None
    """Wraps the HTTP client, for recording."""


class Fetcher:
    """Fetches pages."""

    def __init__(
        self,
        pages: CachedFetch,
        timeout_s: float,
        check: Callable[[Url], None],
        private: "PrivatePages | None" = None,
        archive: "WaybackMachine | None" = None,
    ) -> None:
        self._pages = pages
        self._timeout_s = timeout_s
        self._check = check
        self._private = private or PrivatePages(pages)
        self._archive = archive

    def check(self, url: Url) -> None:
        """Check a URL against the guard's policy without a request.

        Needed for answers without a request to that URL: from the cache, the library or a loader's API.

        Raises:
            AddressRefused: the policy does not allow it.
        """
        self._check(url)

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page:
        """The page at `url`, from the cache if that is fresh and `force_refresh` is not set.

        Raises:
            FetchError: a leaf with the reason.
        """
        request = PageRequest(url, deadline.within(self._timeout_s), force_refresh)
        pages = self._private if self._private.has(url) else self._page_or_copy
        return await self._in_time(request, pages)

    async def if_changed(self, url: Url, deadline: Deadline, known: Page) -> Page | None:
        """The page at `url` if it differs from the known one, whose ETag and date are sent; None if it does not.

        Raises:
            FetchError: a leaf with the reason.
        """
        request = PageRequest(url, deadline.within(self._timeout_s), known=known)
        pages = self._private if self._private.has(url) else self._pages.if_changed
        return await self._in_time(request, pages)

    async def _in_time(
        self, request: PageRequest, fetch: Callable[[PageRequest], Awaitable[Value]]
    ) -> Value:
        url = request.url
        self.check(url)
        try:
            with anyio.fail_after(request.deadline.remaining_s()):
                return await fetch(request)
        except TimeoutError as error:
            raise PageTimeout(f"{url.host} did not answer in time.", url=str(url)) from error

    async def _page_or_copy(self, request: PageRequest) -> Page:
        """The page or, if it is gone or cannot be reached, its copy in the archive."""
        try:
            return await self._pages(request)
        except (PageNotFound, PageUnreachable) as gone:
            copy = await self._archive.copy_of(request, gone) if self._archive else None
            if copy is None:
                raise
            return copy

    async def cached(self, url: Url) -> Page | None:
        """The cached page, of any age, without a request.

        Raises:
            AddressRefused: the policy does not allow the URL any more.
        """
        self.check(url)
        return None if self._private.has(url) else await self._pages.cached(str(url))

    async def keep(self, page: Page) -> None:
        """Replace the cached page of the requested URL, for example by a rendered one."""
        await self._pages.keep(page)


@frozen
class PrivatePages:
    """Fetches pages of hosts with a login: not through the cache, and not through a loader, which would not send it."""

    fetch: Fetch
    logins: Logins = field(default_factory=Logins)

    def has(self, url: Url) -> bool:
        """Whether there is a login for an address."""
        return bool(self.logins.headers_for(url))

    async def __call__(self, request: PageRequest) -> Page:
        """The page, which is marked private. Its site may not allow less, so nothing stores it."""
        headers = self.logins.headers_for(request.url)
        page = await self.fetch(replace(request, headers=headers, private=True))
        return replace(page, private=True, cache_control=NO_STORE)


class _LazyHop:
    """The HTTP client, imported and opened at the first request."""

    def __init__(self, guard: Guard, limits: FetchLimits, egress: Egress, seams: Seams) -> None:
        self._arguments = (guard, limits, egress, seams.dialler)
        self._hop: HttpHop | None = None

    async def __call__(self, request: HopRequest) -> HopReply:
        if self._hop is None:
            from kindly.fetch.chain.http_client import HttpHop

            self._hop = HttpHop(*self._arguments)
        return await self._hop(request)

    async def aclose(self) -> None:
        if self._hop is not None:
            with anyio.CancelScope(shield=True):
                await self._hop.aclose()


@asynccontextmanager
async def open_fetcher(
    limits: FetchLimits | None = None,
    policy: GuardPolicy | None = None,
    *,
    egress: Egress | None = None,
    cache_path: str = MEMORY,
    seams: Seams | None = None,
    loaders: LoaderSettings | None = None,
) -> AsyncIterator[Fetcher]:
    """A fetcher; when the block ends, connections and cache are closed."""
    limits, seams = limits or FetchLimits(), seams or Seams()
    guard = Guard(policy or GuardPolicy(), seams.resolver)
    egress = egress or Egress()
    http = _LazyHop(guard, limits, egress, seams)
    hop = seams.wrap_http(http) if seams.wrap_http else http
    paced = PacedHop(hop, limits, partial(_is_opened, guard), seams.clock, egress.slots)
    chains = _chains(paced, guard, limits, seams.clock, loaders or LoaderSettings())
    load = Loaders(LOADERS, chains.open_client, chains.pages)
    async with background_tasks() as tasks:
        cache = SqlitePageCache(
            cache_path, seams.clock.now, limits.cache_max_bytes, seams.warn, tasks
        )
        try:
            pages = CachedFetch(load, cache, limits.cache_ttl_s, seams.clock)
            private = PrivatePages(chains.pages, limits.logins)
            archive = _archive(chains.apis, limits.archive_url)
            yield Fetcher(pages, limits.timeout_s, guard.check, private, archive)
        finally:
            await http.aclose()
            await cache.aclose()


def _archive(apis: Fetch, url: str | None) -> "WaybackMachine | None":
    """The archive for pages that are gone, if it is switched on."""
    if not url:
        return None
    from kindly.fetch.chain.wayback import WaybackMachine

    return WaybackMachine(apis, url)


def _chains(
    paced: Hop, guard: Guard, limits: FetchLimits, clock: Clock, settings: LoaderSettings
) -> LoaderChains:
    """The chain for pages, with robots.txt, and the one for APIs, without."""
    hop: Hop = RetryingHop(paced, clock)
    apis = Redirects(hop, guard, limits.max_redirects, clock)
    if limits.respect_robots:
        robots_files = Redirects(truncated(hop), guard, limits.max_redirects, clock)
        hop = RobotsHop(hop, robots_files, clock)
    pages = Redirects(hop, guard, limits.max_redirects, clock)
    return LoaderChains(pages, apis, settings, clock)


def _is_opened(guard: Guard, url: Url) -> bool:
    return guard.is_opened(url.host, url.port)
