"""The page cache's rules: a fresh page is not downloaded again, a stale one is revalidated by a conditional request.

A page is fresh for 24 hours by default; `no-store` and `no-cache` are obeyed. Concurrent calls for one URL share one
download (single flight).
"""

from dataclasses import replace
from datetime import timedelta

from kindly.clock import Clock
from kindly.concurrency.single_flight import SingleFlight
from kindly.fetch.chain.page_store import CachedPage, PageCache
from kindly.fetch.chain.types import Fetch, PageRequest
from kindly.models import FetchMethod, How, Page

SKEW = timedelta(minutes=5)
"""How far in the future a page may have been checked, as processes' clocks differ."""


class CachedFetch:
    """Fetches pages through the cache."""

    def __init__(self, fetch: Fetch, cache: PageCache, ttl_s: float, clock: Clock) -> None:
        self._fetch = fetch
        self._cache = cache
        self._ttl = timedelta(seconds=ttl_s)
        self._clock = clock
        self._single_flight: SingleFlight[Page] = SingleFlight()

    async def __call__(self, request: PageRequest) -> Page:
        """The page; its `how` says whether it was cached, revalidated, or downloaded."""
        key = (str(request.url), request.force_refresh)
        return await self._single_flight(key, lambda: self._page(request))

    async def if_changed(self, request: PageRequest) -> Page | None:
        """The page, downloaded if it differs from the one that the request knows; None if it does not."""
        page = await self._download(request, replaces=True)
        if page.status != 304:
            return page
        cached = await self._cache.get(str(request.url))
        if cached is not None:
            await self._cache.touch(CachedPage(cached.page, self._clock.now()))
        return None

    async def cached(self, key: str) -> Page | None:
        """The cached page, of any age, without a request."""
        cached = await self._cache.get(key)
        return None if cached is None else _as(cached, FetchMethod.CACHE)

    async def keep(self, page: Page) -> None:
        """Replace the cached page of the requested URL; do nothing if there is none."""
        cached = await self._cache.get(page.requested_url)
        if cached is not None:
            await self._cache.put(CachedPage(page, self._clock.now()))

    async def _page(self, request: PageRequest) -> Page:
        cached = await self._cache.get(str(request.url))
        if cached is None:
            return await self._download(request, replaces=False)
        if not request.force_refresh and self._is_fresh(cached):
            return _as(cached, FetchMethod.CACHE)
        if cached.page.etag or cached.page.last_modified:
            request = replace(request, known=cached.page)
        page = await self._download(request, replaces=True)
        if page.status != 304:
            return page
        current = CachedPage(cached.page, self._clock.now())
        await self._cache.touch(current)
        return _as(current, FetchMethod.REVALIDATED)

    async def _download(self, request: PageRequest, *, replaces: bool) -> Page:
        page = await self._fetch(request)
        if may_be_kept(page):
            await self._cache.put(CachedPage(page, self._clock.now()))
        elif replaces and page.status != 304:
            await self._cache.drop(str(request.url))
        return page

    def _is_fresh(self, cached: CachedPage) -> bool:
        age = self._clock.now() - cached.checked_at
        return -SKEW <= age < self._ttl and not must_be_checked(cached.page)


def _as(cached: CachedPage, method: FetchMethod) -> Page:
    return replace(cached.page, how=How(method), checked_at=cached.checked_at)


def may_be_kept(page: Page) -> bool:
    """Whether a page may be stored (RFC 9111, 5.2.2.5)."""
    return page.status == 200 and "no-store" not in _directives(page)


def must_be_checked(page: Page) -> bool:
    """Whether a stored page must be revalidated each time (RFC 9111, 5.2.2.1 and 5.2.2.4)."""
    return not _directives(page).isdisjoint({"no-cache", "max-age=0"})


def _directives(page: Page) -> set[str]:
    return {directive.strip() for directive in page.cache_control.split(",")}
