"""Nothing is downloaded twice: kept pages while they are fresh, a conditional request when they are
not.

Freshness is ours (24 hours); a site's `no-store` and `no-cache` are obeyed. Two calls for one
address share one download.
"""

from dataclasses import replace
from datetime import timedelta

from kindly.clock import Clock
from kindly.concurrency.single_flight import SingleFlight
from kindly.fetch.chain.page_store import Kept, PageCache
from kindly.fetch.chain.types import Fetch, PageRequest
from kindly.models import FetchMethod, How, Page

SKEW = timedelta(minutes=5)
"""How far ahead of our clock a page may have been checked."""


class Cached:
    """Gets pages from the cache first."""

    def __init__(self, get: Fetch, cache: PageCache, ttl_s: float, times: Clock) -> None:
        self._get = get
        self._cache = cache
        self._ttl = timedelta(seconds=ttl_s)
        self._times = times
        self._flights: SingleFlight[Page] = SingleFlight()

    async def __call__(self, wanted: PageRequest) -> Page:
        """The page; its `how` says whether it was kept, found current, or downloaded."""
        key = (str(wanted.url), wanted.force_refresh)
        return await self._flights(key, lambda: self._answer(wanted))

    async def kept(self, key: str) -> Page | None:
        """The page as it is kept, of any age, without asking its site."""
        kept = await self._cache.get(key)
        return None if kept is None else _as(kept, FetchMethod.CACHE)

    async def keep(self, page: Page) -> None:
        """Put a page in the place of what is kept under its address, if that was kept at all."""
        kept = await self._cache.get(page.requested_url)
        if kept is not None:
            await self._cache.put(Kept(page, self._times.now()))

    async def _answer(self, wanted: PageRequest) -> Page:
        kept = await self._cache.get(str(wanted.url))
        if kept is None:
            return await self._download(wanted, had=False)
        if not wanted.force_refresh and self._is_fresh(kept):
            return _as(kept, FetchMethod.CACHE)
        if kept.page.etag or kept.page.last_modified:
            wanted = replace(wanted, known=kept.page)
        page = await self._download(wanted, had=True)
        if page.status != 304:
            return page
        current = Kept(kept.page, self._times.now())
        await self._cache.touch(current)
        return _as(current, FetchMethod.REVALIDATED)

    async def _download(self, wanted: PageRequest, *, had: bool) -> Page:
        page = await self._get(wanted)
        if may_be_kept(page):
            await self._cache.put(Kept(page, self._times.now()))
        elif had and page.status != 304:
            await self._cache.drop(str(wanted.url))
        return page

    def _is_fresh(self, kept: Kept) -> bool:
        age = self._times.now() - kept.checked_at
        return -SKEW <= age < self._ttl and not must_be_checked(kept.page)


def _as(kept: Kept, method: FetchMethod) -> Page:
    return replace(kept.page, how=How(method), checked_at=kept.checked_at)


def may_be_kept(page: Page) -> bool:
    """Whether a page may be stored at all (RFC 9111, 5.2.2.5)."""
    return page.status == 200 and "no-store" not in _directives(page)


def must_be_checked(page: Page) -> bool:
    """Whether a stored page must be checked with its site each time (RFC 9111, 5.2.2.1 and
    5.2.2.4).
    """
    return not _directives(page).isdisjoint({"no-cache", "max-age=0"})


def _directives(page: Page) -> set[str]:
    return {directive.strip() for directive in page.cache_control.split(",")}
