"""The composition root: Settings → App. Builds every long-lived thing once, and closes them all at the end.

Two HTTP clients that nobody below can mix up: the API client, which may reach what the user configured, and the page
client inside the fetcher, which reaches only what the guard allows.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from kindly.extract.worker import Workers
from kindly.fetch.calls import Egress, FetchLimits
from kindly.fetch.fetcher import open_fetcher
from kindly.fetch.guard import GuardPolicy
from kindly.fetch.store import MEMORY
from kindly.pipeline import Stages
from kindly.redact import Redactor
from kindly.search.client import build_client
from kindly.search.providers import PROVIDERS
from kindly.search.router import CALL_TIMEOUT_S, Router
from kindly.settings import Settings


@dataclass(frozen=True, slots=True)
class App:
    """All that a call needs."""

    stages: Stages
    redactor: Redactor
    default_tokens: int
    max_tokens: int
    deadline_s: float

    def tokens_for(self, wanted: int | None) -> int:
        """How large an answer may be, given what the call asks for."""
        return min(wanted or self.default_tokens, self.max_tokens)


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """An app for these settings. Cheap: connections, processes and files are opened when first needed."""
    async with AsyncExitStack() as stack:
        fetcher = await stack.enter_async_context(
            open_fetcher(
                fetch_limits(settings),
                guard_policy(settings),
                egress=egress(settings),
                cache_path=str(settings.data_path / "pages.sqlite")
                if settings.cache_mb
                else MEMORY,
            )
        )
        workers = await stack.enter_async_context(
            Workers(size=settings.workers, environ=settings.child_environ)
        )
        stages = Stages(
            searcher=await _router(settings, stack),
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
        )


async def _router(settings: Settings, stack: AsyncExitStack) -> Router:
    configured = [spec for spec in PROVIDERS if spec.key_setting in settings.keys]
    client = await stack.enter_async_context(
        build_client(
            timeout_s=CALL_TIMEOUT_S,
            user_agent="kindly-web-search-mcp-server",
            ca_file=settings.ssl_cert_file,
            proxy=_revealed(settings.https_proxy),
            http_proxy=_revealed(settings.http_proxy),
            no_proxy=settings.no_proxy,
        )
    )
    return Router(
        tuple(
            spec.build(
                client,
                settings.base_urls.get(spec.base_url_setting, spec.base_url),
                settings.keys[spec.key_setting],
            )
            for spec in configured
        ),
        key_settings=tuple(spec.key_setting for spec in PROVIDERS),
    )


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def egress(settings: Settings) -> Egress:
    """How page traffic leaves this machine."""
    return Egress(
        proxy=_revealed(settings.https_proxy or settings.http_proxy),
        no_proxy=settings.no_proxy,
        ca_file=str(settings.ssl_cert_file) if settings.ssl_cert_file else None,
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
