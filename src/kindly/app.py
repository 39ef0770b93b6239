"""The composition root: Settings → App. Builds every long-lived thing once, and closes them all at the end.

Two HTTP clients that nobody below can mix up: the API client, which may reach what the user configured, and the page
client inside the fetcher, which reaches only what the guard allows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from kindly.budget import Deadline
from kindly.errors import KindlyError, SearchError
from kindly.extract.worker import Workers
from kindly.fetch.calls import Egress, FetchLimits
from kindly.fetch.fetcher import open_fetcher
from kindly.fetch.guard import Guard, GuardPolicy
from kindly.fetch.loader import LoaderSettings
from kindly.models import Hits, Page, Query, SafeSearch
from kindly.pipeline import Stages
from kindly.redact import Redactor
from kindly.room import Room
from kindly.settings import LOADER_URLS, Settings, revealed
from kindly.sqlite import MEMORY
from kindly.tls import Tls
from kindly.urls import Url

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

    from kindly.fetch.browser import BrowserPool, BrowserSettings
    from kindly.read.reader import Reader
    from kindly.reading import Reading
    from kindly.search.ledger import ProviderStatus
    from kindly.searching import Searching


@dataclass(frozen=True, slots=True)
class App:
    """All that a call needs."""

    stages: Stages
    redactor: Redactor
    default_tokens: int
    max_tokens: int
    deadline_s: float
    tls: Tls = field(default_factory=Tls)
    room: Room = field(default_factory=Room)
    """Where calls take their place."""
    safe_search: SafeSearch | None = None
    """What a search filters where the call does not say."""
    books: "Callable[[], Awaitable[tuple[ProviderStatus, ...]]] | None" = None

    async def providers(self) -> "tuple[ProviderStatus, ...]":
        """What is known of each provider, over all starts."""
        return await self.books() if self.books else ()

    async def warm(self) -> None:
        """Have ready what the first call would wait for. Failures are left for that call to tell."""
        with suppress(KindlyError):
            await self.tls.context()

    def tokens_for(self, wanted: int | None) -> int:
        """How large an answer may be, given what the call asks for."""
        return min(wanted or self.default_tokens, self.max_tokens)


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """An app for these settings. Cheap: connections, processes and files are opened when first needed."""
    tls = Tls(settings.ssl_cert_file)
    async with AsyncExitStack() as stack:
        fetcher = await stack.enter_async_context(
            open_fetcher(
                fetch_limits(settings),
                guard_policy(settings),
                egress=egress(settings, tls),
                loaders=loader_settings(settings),
                cache_path=str(settings.pages_file or MEMORY),
            )
        )
        workers = await stack.enter_async_context(
            Workers(size=settings.workers, environ=settings.child_environ)
        )
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        searcher = LazySearch(settings, tls, tasks)
        stack.push_async_callback(searcher.aclose)
        reader = LazyReader(settings, tls)
        stack.push_async_callback(reader.aclose)
        stages = Stages(
            searcher=searcher,
            fetcher=fetcher,
            extractor=workers,
            renderer=LazyBrowser(settings, tls, tasks) if _has_browser(settings) else None,
            reader=reader,
            page_timeout_s=settings.request_timeout_ms / 1000,
        )
        yield App(
            stages,
            Redactor.of(settings.secrets()),
            default_tokens=settings.default_tokens,
            max_tokens=settings.hosting.max_tokens,
            deadline_s=settings.hosting.deadline_s,
            tls=tls,
            room=Room(settings.max_calls),
            safe_search=settings.google_safe_search if settings.profile == "pages" else None,
            books=searcher.ledger,
        )


class LazyBrowser:
    """The browser behind the guard, opened with its proxy at the first page that needs it."""

    def __init__(self, settings: Settings, tls: Tls, tasks: TaskGroup) -> None:
        self._settings = settings
        self._tls = tls
        self._tasks = tasks
        self._opening = anyio.Lock()
        self._pool: BrowserPool | None = None

    async def render(self, url: Url, deadline: Deadline) -> Page:
        """The page as a person would see it."""
        async with self._opening:
            if self._pool is None:
                self._pool = await self._tasks.start(self._hold)
        return await self._pool.render(url, deadline)

    async def _hold(self, *, task_status: "TaskStatus[BrowserPool]") -> None:
        """Keep the pool open in one task, as its own tasks want it."""
        from kindly.fetch.browser import open_browser

        wanted = browser_settings(self._settings, self._tls)
        guard = Guard(guard_policy(self._settings))
        async with open_browser(wanted, guard, environ=self._settings.child_environ) as pool:
            task_status.started(pool)
            await anyio.sleep_forever()


def _has_browser(settings: Settings) -> bool:
    """Whether pages may be rendered: it is not turned off, and a driver is there or was asked for by name."""
    if settings.browser == "auto":
        return find_spec("playwright") is not None
    return settings.browser != "off"


class LazySearch:
    """Search, put together with its clients and TLS context when it is first wanted."""

    def __init__(self, settings: Settings, tls: Tls, tasks: TaskGroup) -> None:
        self._settings = settings
        self._tls = tls
        self._tasks = tasks
        self._opening = anyio.Lock()
        self._search: Searching | None = None

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """Hits from the first configured provider that answers."""
        return await (await self._opened()).router.search(query, deadline)

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        """The outcome of each query, in their order."""
        router = (await self._opened()).router
        return await router.search_all(queries, deadline, self._settings.concurrency)

    async def ledger(self) -> "tuple[ProviderStatus, ...]":
        """What is known of each provider."""
        return (await self._opened()).router.ledger.snapshot()

    async def aclose(self) -> None:
        """Keep what was learned, and close what was opened."""
        if self._search is not None:
            await self._search.aclose()

    async def _opened(self) -> "Searching":
        async with self._opening:
            if self._search is None:
                from kindly.searching import build_search

                context = await self._tls.context()
                search = build_search(self._settings, context, guard_policy(self._settings))
                await search.router.open()
                for maintain in search.upkeep:
                    self._tasks.start_soon(maintain)
                self._search = search
            return self._search


class LazyReader:
    """Reading, put together with its store and its model when it is first wanted."""

    def __init__(self, settings: Settings, tls: Tls) -> None:
        self._settings = settings
        self._tls = tls
        self._opening = anyio.Lock()
        self._reading: Reading | None = None

    async def __call__(self) -> "Reader":
        """The reader."""
        async with self._opening:
            if self._reading is None:
                from kindly.reading import build_reader

                remote = self._settings.embedding_server_url is not None
                self._reading = build_reader(
                    self._settings, await self._tls.context() if remote else None
                )
            return self._reading.reader

    async def aclose(self) -> None:
        """Let go of the store."""
        if self._reading is not None:
            with anyio.CancelScope(shield=True):
                await self._reading.aclose()


def egress(settings: Settings, tls: Tls) -> Egress:
    """How page traffic leaves this machine."""
    return Egress(
        proxy=revealed(settings.https_proxy),
        http_proxy=revealed(settings.http_proxy),
        no_proxy=settings.no_proxy,
        tls=tls,
    )


def fetch_limits(settings: Settings) -> FetchLimits:
    """What a fetch may cost."""
    return FetchLimits(
        timeout_s=settings.request_timeout_ms / 1000,
        max_bytes=settings.max_page_bytes,
        max_file_bytes=settings.max_file_bytes,
        max_wire_bytes=settings.max_page_bytes,
        user_agent=settings.user_agent,
        concurrency=settings.concurrency,
        host_concurrency=settings.host_concurrency,
        respect_robots=settings.respect_robots_txt,
        cache_ttl_s=settings.cache_hours * 3600,
        cache_max_bytes=settings.cache_mb * 1_000_000,
    )


def loader_settings(settings: Settings) -> LoaderSettings:
    """What loaders may use."""
    base_urls = {
        name: settings.base_urls[variable]
        for variable, (name, _) in LOADER_URLS.items()
        if variable in settings.base_urls
    }
    return LoaderSettings(settings.tokens, base_urls)


def browser_settings(settings: Settings, tls: Tls) -> "BrowserSettings":
    """Which browser, how its start is tried, and how its traffic leaves this machine."""
    from kindly.fetch.browser import BrowserSettings

    return BrowserSettings(
        driver="auto" if settings.browser == "off" else settings.browser,
        path=str(settings.browser_path) if settings.browser_path else None,
        attempts=settings.browser_attempts,
        backoff_s=settings.browser_backoff_s,
        user_agent=settings.user_agent,
        ca_file=str(settings.ssl_cert_file.absolute()) if settings.ssl_cert_file else None,
        egress=egress(settings, tls),
    )


def guard_policy(settings: Settings) -> GuardPolicy:
    """What the user opened and closed."""
    return GuardPolicy(
        allow_private=settings.allow_private,
        blocked_domains=settings.blocked_domains,
        allowed_domains=settings.allowed_domains,
    )
