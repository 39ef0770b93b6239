"""The composition root: Settings → App. Builds every long-lived thing once, and closes them all at the end.

Two HTTP clients that nobody below can mix up: the API client, which may reach what the user configured, and the page
client inside the fetcher, which reaches only what the guard allows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup
from pydantic import SecretStr

import kindly
from kindly.budget import Deadline
from kindly.errors import KindlyError, SearchError
from kindly.extract.worker import Workers
from kindly.fetch.calls import Egress, FetchLimits
from kindly.fetch.fetcher import open_fetcher
from kindly.fetch.guard import Guard, GuardPolicy
from kindly.models import Hits, Query
from kindly.pipeline import Stages
from kindly.redact import Redactor
from kindly.search.client import Proxies, build_client
from kindly.search.exchange import Api
from kindly.search.gauge import Gauge
from kindly.search.ledger import ProviderStatus
from kindly.search.provider import Access, Maintained, ProviderSpec
from kindly.search.rounds import Choices
from kindly.search.router import CALL_TIMEOUT_S, Entry, Router, build_router
from kindly.search.state import SqliteState
from kindly.search.world import World
from kindly.settings import Settings
from kindly.sqlite import MEMORY
from kindly.tls import Tls

if TYPE_CHECKING:
    import ssl

    import httpx2


KEYS = ("SERPER_API_KEY", "TAVILY_API_KEY")
KEYLESS = ("KINDLY_KEYLESS=1", "KINDLY_SEARXNG_POOL=1", "SEARXNG_BASE_URL")
"""What the error names when no provider is set up."""


@dataclass(frozen=True, slots=True)
class App:
    """All that a call needs."""

    stages: Stages
    redactor: Redactor
    default_tokens: int
    max_tokens: int
    deadline_s: float
    tls: Tls = field(default_factory=Tls)
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
                cache_path=str(settings.data_path / "pages.sqlite")
                if settings.cache_mb
                else MEMORY,
            )
        )
        workers = await stack.enter_async_context(
            Workers(size=settings.workers, environ=settings.child_environ)
        )
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        searcher = LazyRouter(settings, tls, tasks)
        stack.push_async_callback(searcher.aclose)
        stages = Stages(
            searcher=searcher,
            fetcher=fetcher,
            extractor=workers,
            page_timeout_s=settings.request_timeout_ms / 1000,
        )
        yield App(
            stages,
            Redactor.of(settings.secrets()),
            default_tokens=settings.default_tokens,
            max_tokens=settings.hosting.max_tokens,
            deadline_s=settings.hosting.deadline_s,
            tls=tls,
            books=searcher.ledger,
        )


class LazyRouter:
    """The router, built with its clients and TLS context at the first search."""

    def __init__(self, settings: Settings, tls: Tls, tasks: TaskGroup) -> None:
        self._settings = settings
        self._tls = tls
        self._tasks = tasks
        self._opening = anyio.Lock()
        self._clients: list[httpx2.AsyncClient] = []
        self._state = SqliteState(str(settings.data_path / "search.sqlite"))
        self._router: Router | None = None

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """Hits from the first configured provider that answers."""
        return await (await self._opened()).search(query, deadline)

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline
    ) -> list[Hits | SearchError]:
        """The outcome of each query, in their order."""
        router = await self._opened()
        return await router.search_all(queries, deadline, self._settings.concurrency)

    async def ledger(self) -> tuple[ProviderStatus, ...]:
        """What is known of each provider."""
        return (await self._opened()).ledger.snapshot()

    async def aclose(self) -> None:
        """Keep what was learned, and close what was opened."""
        if self._router is not None:
            await self._router.aclose()
        for client in self._clients:
            await client.aclose()
        await self._state.aclose()

    async def _opened(self) -> Router:
        async with self._opening:
            if self._router is None:
                self._router = self._build(await self._tls.context())
                await self._router.open()
            return self._router

    def _build(self, context: "ssl.SSLContext") -> Router:
        world = World(state=self._state)
        configured = self._settings.configured()
        named = self._client(context)
        public = self._client(context, public_only=True) if _any_public(configured) else named
        entries = [
            self._entry(spec, public if spec.public_only else named, world) for spec in configured
        ]
        return build_router(
            entries,
            choices=Choices(KEYS, KEYLESS),
            world=world,
            fuse=self._settings.fuse,
            cache_ttl_s=self._settings.search_cache_minutes * 60,
        )

    def _entry(self, spec: ProviderSpec, client: "httpx2.AsyncClient", world: World) -> Entry:
        gauge = Gauge(world.now)
        values = {need.name: self._settings.needed[need.name] for need in spec.needs}
        base_url = self._settings.base_urls.get(spec.base_url_setting, spec.base_url)
        provider = spec.build(Access(Api(client, spec, gauge.note), base_url, values, world))
        if isinstance(provider, Maintained):
            self._tasks.start_soon(provider.maintain)
        return Entry(provider, spec.label, spec.pace, gauge, spec.scraped)

    def _client(
        self, context: "ssl.SSLContext", *, public_only: bool = False
    ) -> "httpx2.AsyncClient":
        settings = self._settings
        transport = None
        if public_only:
            from kindly.fetch.transport import GuardedTransport

            transport = GuardedTransport(Guard(guard_policy(settings)), context)
        client = build_client(
            timeout_s=CALL_TIMEOUT_S,
            user_agent=kindly.SERVER_NAME,
            context=context,
            proxies=Proxies(
                _revealed(settings.https_proxy), _revealed(settings.http_proxy), settings.no_proxy
            ),
            transport=transport,
        )
        self._clients.append(client)
        return client


def _any_public(specs: Sequence[ProviderSpec]) -> bool:
    return any(spec.public_only for spec in specs)


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def egress(settings: Settings, tls: Tls) -> Egress:
    """How page traffic leaves this machine."""
    return Egress(
        proxy=_revealed(settings.https_proxy),
        http_proxy=_revealed(settings.http_proxy),
        no_proxy=settings.no_proxy,
        tls=tls,
    )


def fetch_limits(settings: Settings) -> FetchLimits:
    """What a fetch may cost."""
    return FetchLimits(
        timeout_s=settings.request_timeout_ms / 1000,
        max_bytes=settings.max_page_bytes,
        max_wire_bytes=settings.max_page_bytes,
        user_agent=settings.user_agent,
        concurrency=settings.concurrency,
        host_concurrency=settings.host_concurrency,
        respect_robots=settings.respect_robots_txt,
        cache_ttl_s=settings.cache_hours * 3600,
        cache_max_bytes=settings.cache_mb * 1_000_000,
    )


def guard_policy(settings: Settings) -> GuardPolicy:
    """What the user opened and closed."""
    return GuardPolicy(
        allow_private=settings.allow_private,
        blocked_domains=settings.blocked_domains,
        allowed_domains=settings.allowed_domains,
    )
