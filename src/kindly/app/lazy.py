"""Stages that open at their first use: search, library and browser. Their modules are imported then, not at start."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from kindly.app.stage_settings import browser_settings, guard_policy, loader_settings
from kindly.budget import Deadline
from kindly.concurrency.call_limit import CallLimit
from kindly.errors import BrowserUnavailable, SearchError
from kindly.fetch.browser.drivers import DRIVERS, is_installed
from kindly.fetch.fetcher import Fetcher
from kindly.fetch.guard.guard import Guard
from kindly.frozen import frozen
from kindly.models import Hits, Page, Query, Screenshot
from kindly.net.api_client import STRAIGHT, Traffic
from kindly.net.tls import Tls
from kindly.settings import Settings
from kindly.stages import Stages
from kindly.telemetry.warn_once import WarnOnce
from kindly.urls import Url

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

    from kindly.app.reader import OpenLibrary
    from kindly.app.search import OpenSearch
    from kindly.crawl.background import BackgroundCrawls
    from kindly.crawl.indexer import Indexer
    from kindly.fetch.browser.browser_pool import BrowserPool
    from kindly.read.library import Library
    from kindly.read.store import Store
    from kindly.search.provider_stats import ProviderStatus


class LazySearch:
    """The search router with its API clients."""

    def __init__(
        self,
        settings: Settings,
        tls: Tls,
        tasks: TaskGroup,
        traffic: Traffic = STRAIGHT,
        warn_once: WarnOnce | None = None,
    ) -> None:
        self._settings = settings
        self._tls = tls
        self._tasks = tasks
        self._traffic = traffic
        self._warn_once = warn_once
        self._opening = anyio.Lock()
        self._opened: OpenSearch | None = None

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        return await (await self._open()).router.search(query, deadline)

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        return await (await self._open()).router.search_all(queries, deadline)

    async def open(self) -> None:
        """Open the router and load its statistics."""
        await self._open()

    def provider_status(self) -> "tuple[ProviderStatus, ...]":
        """The statistics of each provider; before the router is open, only the names."""
        if self._opened is not None:
            return self._opened.router.stats.snapshot()
        from kindly.search.provider_stats import ProviderStatus

        return tuple(ProviderStatus(spec.name) for spec in self._settings.configured())

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()

    async def _open(self) -> "OpenSearch":
        async with self._opening:
            if self._opened is None:
                from kindly.app.search import build_search

                context = await self._tls.context()
                policy = guard_policy(self._settings)
                search = build_search(
                    self._settings, context, policy, self._traffic, self._warn_once
                )
                await search.router.open()
                for maintain in search.maintenance:
                    self._tasks.start_soon(maintain)
                self._opened = search
            return self._opened


@frozen
class AfterAnswers:
    """The tasks that store pages after their answer, and the calls that they wait for."""

    tasks: TaskGroup
    call_limit: CallLimit
    leaves_pages: bool = False
    """Whether closing leaves a few pages to the next process, and so takes no time."""


class LazyLibrary:
    """The library of read pages with its store and its embedder. With `after`, pages are stored after the answer."""

    def __init__(
        self,
        settings: Settings,
        tls: Tls,
        traffic: Traffic = STRAIGHT,
        warn_once: WarnOnce | None = None,
        after: AfterAnswers | None = None,
    ) -> None:
        self._settings = settings
        self._tls = tls
        self._traffic = traffic
        self._warn_once = warn_once
        self._after = after
        self._opening = anyio.Lock()
        self._opened: OpenLibrary | None = None

    async def open(self) -> "Library":
        async with self._opening:
            if self._opened is None:
                from kindly.app.reader import build_library, open_queue

                remote = self._settings.embedder_spec.is_remote
                context = await self._tls.context() if remote else None
                opened = build_library(self._settings, context, self._traffic, self._warn_once)
                if (after := self._after) is not None:
                    queue = await open_queue(
                        opened.library,
                        self._settings,
                        lambda: after.call_limit.running > 0,
                        leaves_pages=after.leaves_pages,
                    )
                    after.tasks.start_soon(queue.run)
                self._opened = opened
            return self._opened.library

    async def store(self) -> "Store":
        return (await self.open()).store

    async def settle(self) -> None:
        """Store the pages that are queued."""
        await (await self.open()).settle()

    async def aclose(self) -> None:
        if self._opened is not None:
            with anyio.CancelScope(shield=True):
                await self._opened.aclose()


class LazyCrawls:
    """What makes collections of whole sites, and its crawls in the background."""

    def __init__(
        self,
        settings: Settings,
        tasks: TaskGroup,
        stages: Stages,
        fetcher: Fetcher,
        library: LazyLibrary,
    ) -> None:
        self._settings = settings
        self._tasks = tasks
        self._stages = stages
        self._fetcher = fetcher
        self._library = library
        self._background: BackgroundCrawls | None = None

    def indexer(self) -> "Indexer":
        from kindly.crawl.indexer import Indexer, IndexerSettings

        guard = Guard(guard_policy(self._settings))
        indexing = IndexerSettings(
            registries=loader_settings(self._settings).base_urls,
            environ=self._settings.child_environ,
            is_shared=bool(self._settings.store_spec.schemes),
            is_opened=lambda url: guard.is_opened(url.host, url.port),
        )
        return Indexer(self._stages, self._fetcher, self._library.open, indexing)

    def background(self) -> "BackgroundCrawls":
        if self._background is None:
            from kindly.crawl.background import BackgroundCrawls

            self._background = BackgroundCrawls(self._tasks, self.indexer)
        return self._background

    async def aclose(self) -> None:
        """End the crawls before the library is closed."""
        if self._background is not None:
            await self._background.aclose()


class LazyBrowser:
    """The browser and the filtering proxy that its traffic goes through, and another such pair for screenshots."""

    def __init__(self, settings: Settings, tls: Tls, tasks: TaskGroup) -> None:
        self._settings = settings
        self._tls = tls
        self._tasks = tasks
        self._opening = anyio.Lock()
        self._pools: dict[bool, BrowserPool] = {}
        """Without pictures and with them."""

    async def render(self, url: Url, deadline: Deadline) -> Page:
        return await (await self._pool(pictures=False)).render(url, deadline)

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        return await (await self._pool(pictures=True)).screenshot(url, deadline)

    async def release(self) -> None:
        """Close the browsers that no page uses; the next page that needs one starts another."""
        for pool in list(self._pools.values()):
            await pool.release()

    async def _pool(self, *, pictures: bool) -> "BrowserPool":
        async with self._opening:
            if pictures not in self._pools:
                self._pools[pictures] = await self._tasks.start(
                    partial(self._hold_open, pictures=pictures)
                )
        return self._pools[pictures]

    async def _hold_open(self, *, pictures: bool, task_status: "TaskStatus[BrowserPool]") -> None:
        """Keep the pool open in a task of its own: its task group must be entered and left by the same task."""
        from kindly.fetch.browser.browser_pool import open_browser

        settings = replace(browser_settings(self._settings, self._tls), pictures=pictures)
        guard = Guard(guard_policy(self._settings))
        async with open_browser(settings, guard, environ=self._settings.child_environ) as pool:
            task_status.started(pool)
            await anyio.sleep_forever()


class NoBrowser:
    """In place of a browser that is not installed or turned off: says so, and how to get one."""

    def __init__(self, settings: Settings, tls: Tls) -> None:
        self._settings = settings
        self._tls = tls

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """Nothing is rendered.

        Raises:
            BrowserUnavailable: always.
        """
        raise self._missing(url)

    async def screenshot(self, url: Url, deadline: Deadline) -> Screenshot:
        """Nothing is shown.

        Raises:
            BrowserUnavailable: always.
        """
        raise self._missing(url)

    def _missing(self, url: Url) -> BrowserUnavailable:
        from kindly.fetch.browser.launch import what_is_missing

        detail = "The browser is turned off (KINDLY_BROWSER=off)."
        if self._settings.browser != "off":
            wanted = browser_settings(self._settings, self._tls)
            detail = what_is_missing(wanted, self._settings.child_environ)
        return BrowserUnavailable(detail, url=str(url))

    async def release(self) -> None:
        """Nothing to close."""


def renderer(settings: Settings, tls: Tls, tasks: TaskGroup) -> LazyBrowser | NoBrowser | None:
    """What renders pages; None in a profile that uses no browser, whose answers must not advise one."""
    if has_browser(settings):
        return LazyBrowser(settings, tls, tasks)
    by_profile = settings.profile_defaults.settings.get("KINDLY_BROWSER") == "off"
    return None if settings.browser == "off" and by_profile else NoBrowser(settings, tls)


def has_browser(settings: Settings) -> bool:
    """Whether pages may be rendered: not turned off, and a driver is installed or named in the settings."""
    if settings.browser == "auto":
        return any(is_installed(driver.package) for driver in DRIVERS.values())
    return settings.browser != "off"
