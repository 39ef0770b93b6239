"""The composition root: Settings → App. Builds every long-lived thing once, and closes them all at the end.

Two HTTP clients that nobody below can mix up: the API client, which may reach what the user configured, and the page
client inside the fetcher, which reaches only what the guard allows.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import SecretStr

import kindly
from kindly.budget import Deadline
from kindly.errors import KindlyError
from kindly.extract.worker import Workers
from kindly.fetch.calls import Egress, FetchLimits
from kindly.fetch.fetcher import open_fetcher
from kindly.fetch.guard import GuardPolicy
from kindly.fetch.store import MEMORY
from kindly.models import Hits, Query
from kindly.pipeline import Stages
from kindly.redact import Redactor
from kindly.search.client import build_client
from kindly.search.providers import PROVIDERS
from kindly.search.router import CALL_TIMEOUT_S, Router
from kindly.settings import Settings
from kindly.tls import Tls

if TYPE_CHECKING:
    import ssl

    import httpx2


@dataclass(frozen=True, slots=True)
class App:
    """All that a call needs."""

    stages: Stages
    redactor: Redactor
    default_tokens: int
    max_tokens: int
    deadline_s: float
    tls: Tls = field(default_factory=Tls)

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
        searcher = LazyRouter(settings, tls)
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
        )


class LazyRouter:
    """The router, built with its client and TLS context at the first search."""

    def __init__(self, settings: Settings, tls: Tls) -> None:
        self._settings = settings
        self._tls = tls
        self._client: httpx2.AsyncClient | None = None
        self._router: Router | None = None

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """Hits from the first configured provider that answers."""
        if self._router is None:
            self._router = self._build(await self._tls.context())
        return await self._router.search(query, deadline)

    async def aclose(self) -> None:
        """Close the client, if there is one."""
        if self._client is not None:
            await self._client.aclose()

    def _build(self, context: "ssl.SSLContext") -> Router:
        settings = self._settings
        client = self._client = build_client(
            timeout_s=CALL_TIMEOUT_S,
            user_agent=kindly.SERVER_NAME,
            context=context,
            proxy=_revealed(settings.https_proxy),
            http_proxy=_revealed(settings.http_proxy),
            no_proxy=settings.no_proxy,
        )
        return Router(
            tuple(
                spec.build(
                    client,
                    settings.base_urls.get(spec.base_url_setting, spec.base_url),
                    settings.keys[spec.key_setting],
                )
                for spec in PROVIDERS
                if spec.key_setting in settings.keys
            ),
            key_settings=tuple(spec.key_setting for spec in PROVIDERS),
        )


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
