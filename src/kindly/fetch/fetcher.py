"""The fetch stage put together: cache around loaders around redirects around robots around pacing
around one request.

Opening it is cheap: the HTTP client, TLS and the cache file come with the first page that is
fetched.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import PageTimeout
from kindly.fetch.chain.host_pacing import Paced
from kindly.fetch.chain.page_cache import Cached
from kindly.fetch.chain.page_store import SqlitePageCache
from kindly.fetch.chain.redirects import Redirects
from kindly.fetch.chain.retry import Retried
from kindly.fetch.chain.robots import Robots, capped
from kindly.fetch.chain.types import (
    Egress,
    FetchLimits,
    Hop,
    HopReply,
    HopRequest,
    PageRequest,
)
from kindly.fetch.guard.guard import Guard, GuardPolicy, Resolver, system_resolver
from kindly.fetch.loader_kit.loader import Loaders, LoaderSettings
from kindly.fetch.loader_kit.loader_client import LoaderChains
from kindly.fetch.loaders import LOADERS
from kindly.models import Page
from kindly.storage.sqlite import MEMORY
from kindly.telemetry.warn_once import WarnOnce
from kindly.urls import Url

if TYPE_CHECKING:
    from httpcore2 import AsyncNetworkBackend

    from kindly.fetch.chain.http_client import HttpHop


@dataclass(frozen=True, slots=True)
class Seams:
    """What touches the world, passed in so that tests can stand in for it."""

    resolver: Resolver = system_resolver
    dialler: "AsyncNetworkBackend | None" = None
    """Opens connections to addresses that the guard checked; the network unless given."""
    times: Clock = field(default_factory=Clock)
    alarm: WarnOnce = field(default_factory=WarnOnce)
    """Told when the page cache fails."""
    around: Callable[[Hop], Hop] | None = None
    """Put around the HTTP client."""


class Fetcher:
    """Gets pages."""

    def __init__(self, pages: Cached, timeout_s: float, check: Callable[[Url], None]) -> None:
        self._pages = pages
        self._timeout_s = timeout_s
        self._check = check

    def check(self, url: Url) -> None:
        """See that an address may be asked for; one that was kept when it still might does not pass for that.

        Raises:
            AddressRefused: it may not.
        """
        self._check(url)

    async def fetch(self, url: Url, deadline: Deadline, *, force_refresh: bool = False) -> Page:
        """The page at `url`, from the cache where that is fresh and `force_refresh` does not say
        otherwise.

        Raises:
            FetchError: a leaf that says why it cannot be had.
        """
        self.check(url)
        deadline = deadline.within(self._timeout_s)
        try:
            with anyio.fail_after(deadline.remaining_s()):
                return await self._pages(PageRequest(url, deadline, force_refresh))
        except TimeoutError as error:
            raise PageTimeout(f"{url.host} did not answer in time.", url=str(url)) from error

    async def cached(self, url: Url) -> Page | None:
        """The page as it is kept, of any age, without touching the network.

        Raises:
            AddressRefused: it may not be asked for any more.
        """
        self.check(url)
        return await self._pages.kept(str(url))

    async def keep(self, page: Page) -> None:
        """Keep a page that was had in another way under the address it was asked for."""
        await self._pages.keep(page)


class _LazyHop:
    """The HTTP client, imported and made at the first request."""

    def __init__(self, guard: Guard, limits: FetchLimits, egress: Egress, seams: Seams) -> None:
        self._made_of = (guard, limits, egress, seams.dialler)
        self._hop: HttpHop | None = None

    async def __call__(self, ask: HopRequest) -> HopReply:
        if self._hop is None:
            from kindly.fetch.chain.http_client import HttpHop

            self._hop = HttpHop(*self._made_of)
        return await self._hop(ask)

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
    """A fetcher for as long as the block runs; at the end connections and cache are closed."""
    limits, seams = limits or FetchLimits(), seams or Seams()
    guard = Guard(policy or GuardPolicy(), seams.resolver)
    egress = egress or Egress()
    http = _LazyHop(guard, limits, egress, seams)
    cache = SqlitePageCache(cache_path, seams.times.now, limits.cache_max_bytes, seams.alarm)
    opened = partial(_is_opened, guard)
    hop = seams.around(http) if seams.around else http
    paced = Paced(hop, limits, opened, seams.times, egress.slots)
    ways = _ways(paced, guard, limits, seams.times, loaders or LoaderSettings())
    load = Loaders(LOADERS, ways.open_get, guard.check)
    try:
        pages = Cached(load, cache, limits.cache_ttl_s, seams.times)
        yield Fetcher(pages, limits.timeout_s, guard.check)
    finally:
        await http.aclose()
        await cache.aclose()


def _ways(
    paced: Hop, guard: Guard, limits: FetchLimits, times: Clock, settings: LoaderSettings
) -> LoaderChains:
    hop: Hop = Retried(paced, times)
    apis = Redirects(hop, guard, limits.max_redirects, times)
    if limits.respect_robots:
        rules = Redirects(capped(hop), guard, limits.max_redirects, times)
        hop = Robots(hop, rules, times)
    pages = Redirects(hop, guard, limits.max_redirects, times)
    return LoaderChains(pages, apis, settings, times)


def _is_opened(guard: Guard, url: Url) -> bool:
    return guard.is_opened(url.host, url.port)
