"""The composition root: Settings → App. Builds every long-lived thing once, and closes them all at the end.

Two HTTP clients that nobody below can mix up: the API client, which may reach what the user configured, and the page
client inside the fetcher, which reaches only what the guard allows.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

import kindly
from kindly.budget import Deadline
from kindly.concurrency.call_limit import CallLimit
from kindly.errors import KindlyError, SearchError
from kindly.extract.workers.worker_pool import WorkerPool
from kindly.fetch.chain.types import FetchLimits
from kindly.fetch.fetcher import Seams, open_fetcher
from kindly.fetch.guard.egress import Egress
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.fetch.loader_kit.loader import LoaderSettings
from kindly.models import Hits, Page, Query
from kindly.net.api_client import STRAIGHT, Traffic
from kindly.net.tls import Tls
from kindly.recording.recording_file import open_tape
from kindly.redact import Redactor
from kindly.settings import LOADER_URLS, Settings, revealed
from kindly.stages import Stages
from kindly.storage.sqlite import MEMORY
from kindly.telemetry.call_stats import CallStats
from kindly.telemetry.trace import DEFAULT_COLLECTOR, Tracer, can_trace, open_tracer
from kindly.telemetry.warn_once import WarnOnce
from kindly.urls import Url

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

    from kindly.app.reader import OpenLibrary
    from kindly.app.search import OpenSearch
    from kindly.fetch.browser.browser_pool import BrowserPool
    from kindly.fetch.browser.launch import BrowserSettings
    from kindly.read.library import Library
    from kindly.read.store import Store
    from kindly.recording.wrappers import RecordingWrappers
    from kindly.search.provider_stats import ProviderStatus

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """All that a call needs."""

    stages: Stages
    redactor: Redactor
    default_tokens: int
    max_tokens: int
    deadline_s: float
    tls: Tls = field(default_factory=Tls)
    room: CallLimit = field(default_factory=CallLimit)
    """Where calls take their place."""
    books: "Callable[[], Awaitable[tuple[ProviderStatus, ...]]] | None" = None
    standing: "Callable[[], tuple[ProviderStatus, ...]]" = tuple
    """What is known of each provider at this moment, without asking anybody or opening anything."""
    library: "Callable[[], Awaitable[Store]] | None" = None
    """Opens the library's store."""
    watch: CallStats = field(default_factory=CallStats)
    """What is counted of calls."""
    tracer: Tracer | None = None
    """Where the steps of calls are sent, if anywhere."""

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
    alarm, slots = WarnOnce(), anyio.Semaphore(settings.concurrency)
    async with AsyncExitStack() as stack:
        taping = _taping(settings, settings.cassette) if settings.cassette else None
        if taping:
            stack.callback(taping.close)
        traffic = Traffic(slots, taping.around if taping else None)
        fetcher = await stack.enter_async_context(
            open_fetcher(
                fetch_limits(settings),
                guard_policy(settings),
                egress=replace(egress(settings, tls), slots=slots),
                loaders=loader_settings(settings),
                cache_path=str(settings.pages_file or MEMORY),
                seams=replace(taping.seams if taping else Seams(), warn=alarm),
            )
        )
        workers = await stack.enter_async_context(
            WorkerPool(size=settings.workers, environ=settings.child_environ)
        )
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        searcher = LazySearch(settings, tls, tasks, traffic, alarm)
        stack.push_async_callback(searcher.aclose)
        reader = LazyReader(settings, tls, traffic, alarm)
        stack.push_async_callback(reader.aclose)
        browser = LazyBrowser(settings, tls, tasks) if _has_browser(settings) else None
        stages = Stages(
            searcher=searcher,
            fetcher=fetcher,
            extractor=workers,
            renderer=taping.renderer(browser) if taping else browser,
            open_library=reader,
            page_timeout_s=settings.request_timeout_ms / 1000,
        )
        yield App(
            stages,
            Redactor.of(settings.secrets()),
            default_tokens=settings.default_tokens,
            max_tokens=settings.hosting.max_tokens,
            deadline_s=settings.hosting.deadline_s,
            tls=tls,
            room=CallLimit(settings.max_calls),
            books=searcher.ledger,
            standing=searcher.standing,
            library=reader.store,
            tracer=await stack.enter_async_context(_tracer(settings)),
        )


def _taping(settings: Settings, path: Path) -> "RecordingWrappers":
    """The cassette that is set, around all that reaches the network."""
    from kindly.recording.wrappers import RecordingWrappers

    redactor = Redactor.of(settings.secrets())
    return RecordingWrappers(open_tape(path.expanduser(), redactor, settings.for_replay), redactor)


@asynccontextmanager
async def _tracer(settings: Settings) -> AsyncIterator[Tracer | None]:
    """Where steps of calls are sent; at the end, what is left is sent too."""
    endpoint = _collector(settings)
    if endpoint is None:
        yield None
        return
    tracer = open_tracer(endpoint, kindly.__version__)
    try:
        yield tracer
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(tracer.close)


def _collector(settings: Settings) -> str | None:
    """The collector's address; none where traces are off, or the address is there for other programs only."""
    if settings.otel:
        return settings.otel_endpoint or DEFAULT_COLLECTOR
    if settings.otel is False or settings.otel_endpoint is None:
        return None
    if not can_trace():
        logger.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra `otel` is not installed.")
        return None
    return settings.otel_endpoint


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
        from kindly.fetch.browser.browser_pool import open_browser

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

    def __init__(
        self,
        settings: Settings,
        tls: Tls,
        tasks: TaskGroup,
        traffic: Traffic = STRAIGHT,
        alarm: WarnOnce | None = None,
    ) -> None:
        self._settings = settings
        self._alarm = alarm
        self._traffic = traffic
        self._tls = tls
        self._tasks = tasks
        self._opening = anyio.Lock()
        self._search: OpenSearch | None = None

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """Hits from the first configured provider that answers."""
        return await (await self._opened()).router.search(query, deadline)

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        """The outcome of each query, in their order."""
        return await (await self._opened()).router.search_all(queries, deadline)

    async def ledger(self) -> "tuple[ProviderStatus, ...]":
        """What is known of each provider."""
        return (await self._opened()).router.stats.snapshot()

    def standing(self) -> "tuple[ProviderStatus, ...]":
        """The same without opening anything: before the first search, only their names."""
        if self._search is not None:
            return self._search.router.stats.snapshot()
        from kindly.search.provider_stats import ProviderStatus

        return tuple(ProviderStatus(spec.name) for spec in self._settings.configured())

    async def aclose(self) -> None:
        """Keep what was learned, and close what was opened."""
        if self._search is not None:
            await self._search.aclose()

    async def _opened(self) -> "OpenSearch":
        async with self._opening:
            if self._search is None:
                from kindly.app.search import build_search

                context = await self._tls.context()
                policy = guard_policy(self._settings)
                search = build_search(self._settings, context, policy, self._traffic, self._alarm)
                await search.router.open()
                for maintain in search.maintenance:
                    self._tasks.start_soon(maintain)
                self._search = search
            return self._search


class LazyReader:
    """Reading, put together with its store and its model when it is first wanted."""

    def __init__(
        self,
        settings: Settings,
        tls: Tls,
        traffic: Traffic = STRAIGHT,
        alarm: WarnOnce | None = None,
    ) -> None:
        self._settings = settings
        self._alarm = alarm
        self._traffic = traffic
        self._tls = tls
        self._opening = anyio.Lock()
        self._reading: OpenLibrary | None = None

    async def __call__(self) -> "Library":
        """The reader."""
        async with self._opening:
            if self._reading is None:
                from kindly.app.reader import build_reader

                remote = self._settings.embedder_spec.is_remote
                context = await self._tls.context() if remote else None
                self._reading = build_reader(self._settings, context, self._traffic, self._alarm)
            return self._reading.reader

    async def store(self) -> "Store":
        """The library's store."""
        return (await self()).store

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
        cut_text=settings.profile_defaults.cut_text,
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
    from kindly.fetch.browser.launch import BrowserSettings

    return BrowserSettings(
        driver="auto" if settings.browser == "off" else settings.browser,
        path=str(settings.browser_path) if settings.browser_path else None,
        sandbox=settings.browser_sandbox,
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
