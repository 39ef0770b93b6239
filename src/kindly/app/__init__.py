"""The composition root: Settings → App. It builds every long-lived object once, and closes them all on exit.

There are two HTTP clients, which the stages cannot mix up: the API client may reach what the user configured; the page
client inside the fetcher reaches only what the SSRF guard allows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from kindly.app.lazy import AfterAnswers, LazyCrawls, LazyLibrary, LazySearch, renderer
from kindly.app.stage_settings import egress, fetch_limits, guard_policy, loader_settings
from kindly.app.tracing import tracing
from kindly.concurrency.call_limit import CallLimit
from kindly.concurrency.deferred_work import DeferredWork
from kindly.concurrency.process_limits import keep_heap_small
from kindly.errors import KindlyError
from kindly.extract.workers.worker_pool import WorkerPool
from kindly.fetch.fetcher import Seams, open_fetcher
from kindly.frozen import frozen
from kindly.net.api_client import Traffic
from kindly.net.tls import Tls
from kindly.redact import Redactor
from kindly.settings import Settings
from kindly.stages import Extracts, Stages
from kindly.storage.sqlite import MEMORY
from kindly.telemetry.call_stats import CallStats
from kindly.telemetry.trace import Tracer
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    from kindly.crawl.background import BackgroundCrawls
    from kindly.crawl.indexer import Indexer
    from kindly.read.store import Store
    from kindly.recording.wrappers import RecordingWrappers
    from kindly.search.provider_stats import ProviderStatus


async def _nothing_to_open() -> None:
    pass


@frozen
class App:
    """Everything that a call uses."""

    stages: Stages
    redactor: Redactor
    default_tokens: int
    max_tokens: int
    deadline_s: float
    raw_tokens: int | None = None
    """The size limit of answers that pass a vendor's JSON on; None: `max_tokens`."""
    tls: Tls = field(default_factory=Tls)
    call_limit: CallLimit = field(default_factory=CallLimit)
    call_stats: CallStats = field(default_factory=CallStats)
    provider_status: "Callable[[], tuple[ProviderStatus, ...]]" = tuple
    """The statistics of each provider. Opens nothing: before the first search there are only names."""
    open_search: Callable[[], Awaitable[None]] = _nothing_to_open
    """Opens search, so that `provider_status` has the statistics of former runs."""
    library_store: "Callable[[], Awaitable[Store]] | None" = None
    """Opens the library's store."""
    settle_library: Callable[[], Awaitable[None]] = _nothing_to_open
    """Stores the pages that were answered and are still queued, so that the store has them all."""
    open_indexer: "Callable[[], Indexer] | None" = None
    """Builds what makes collections of whole sites; None if there is no library."""
    background: "Callable[[], BackgroundCrawls] | None" = None
    """Crawls that go on after the call that started them."""
    tracer: Tracer | None = None

    async def warm(self) -> None:
        """Prepare what the first call would wait for, before most threads start. That call reports a failure."""
        keep_heap_small()
        with suppress(KindlyError):
            await self.tls.context()

    def tokens_for(self, requested: int | None) -> int:
        """The size limit of an answer."""
        return min(requested or self.default_tokens, self.max_tokens)

    def tokens_for_raw(self) -> int:
        """The size limit of an answer that passes a vendor's JSON on, which is not cut like prose."""
        return self.raw_tokens or self.max_tokens


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    many_pages: bool = False,
    leaves_pages: bool = False,
    extractor: Extracts | None = None,
) -> AsyncIterator[App]:
    """An app for these settings. Cheap: connections, processes and files are opened at first use.

    `many_pages`: more than one page is expected, so the first one starts two parsers. `leaves_pages`: few
    pages that were answered are not stored at the end, but by the next process. `extractor`: one that others
    use, too; without it the app starts its own parsers.
    """
    tls, redactor = Tls(settings.ssl_cert_file), Redactor.of(settings.secrets())
    warn_once, slots = WarnOnce(), anyio.Semaphore(settings.concurrency)
    async with AsyncExitStack() as stack:
        recording = _recording(settings, settings.cassette) if settings.cassette else None
        if recording:
            stack.callback(recording.close)
        traffic = Traffic(slots, recording.around if recording else None)
        fetcher = await stack.enter_async_context(
            open_fetcher(
                fetch_limits(settings),
                guard_policy(settings),
                egress=replace(egress(settings, tls), slots=slots),
                loaders=loader_settings(settings),
                cache_path=str(settings.pages_file or MEMORY),
                seams=replace(recording.seams if recording else Seams(), warn=warn_once),
            )
        )
        if extractor is None:
            extractor = await stack.enter_async_context(
                WorkerPool(
                    size=settings.workers, environ=settings.child_environ, announced=int(many_pages)
                )
            )
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        search = LazySearch(settings, tls, tasks, traffic, warn_once)
        stack.push_async_callback(search.aclose)
        call_limit = CallLimit(settings.max_calls)
        after = AfterAnswers(tasks, call_limit, leaves_pages)
        library = LazyLibrary(settings, tls, traffic, warn_once, after)
        stack.push_async_callback(library.aclose)
        deferred = DeferredWork(tasks)
        stack.push_async_callback(deferred.aclose)
        browser = renderer(settings, tls, tasks)
        stages = Stages(
            searcher=search,
            fetcher=fetcher,
            extractor=extractor,
            renderer=recording.renderer(browser) if recording else browser,
            open_library=library.open,
            page_timeout_s=settings.request_timeout_ms / 1000,
            redactor=redactor,
            deferred=deferred,
        )
        crawls = LazyCrawls(settings, tasks, stages, fetcher, library)
        stack.push_async_callback(crawls.aclose)
        yield App(
            stages,
            redactor,
            default_tokens=settings.default_tokens,
            max_tokens=settings.hosting.max_tokens,
            deadline_s=settings.hosting.deadline_s,
            raw_tokens=settings.raw_tokens,
            tls=tls,
            call_limit=call_limit,
            provider_status=search.provider_status,
            open_search=search.open,
            library_store=library.store,
            settle_library=library.settle,
            open_indexer=crawls.indexer,
            background=crawls.background,
            tracer=await stack.enter_async_context(tracing(settings)),
        )


def _recording(settings: Settings, path: Path) -> "RecordingWrappers":
    """Wrappers that record all network answers to a file, or replay them from it."""
    from kindly.recording.recording_file import open_recording
    from kindly.recording.wrappers import RecordingWrappers

    redactor = Redactor.of(settings.secrets())
    recording = open_recording(path.expanduser(), redactor, settings.for_replay)
    return RecordingWrappers(recording, redactor)
