"""Settings → the search router with its clients and its memory. Imported at the first search, not at the start.

Two clients: one may reach whatever the user named, the other, for addresses that come from outside, only what the
guard allows.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import anyio

import kindly
from kindly.app.proxies import api_proxies
from kindly.budget import Deadline
from kindly.clock import SYSTEM_CLOCK
from kindly.errors import SearchError
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.models import Hits, Query
from kindly.net.api_client import STRAIGHT, Traffic, build_client
from kindly.read.specs import SharedState
from kindly.redact import Redactor
from kindly.search.attempt import SetupHints
from kindly.search.managed_provider import OVERTIME_S
from kindly.search.provider import Access, Maintained, ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.search.rate_limits import RateLimits
from kindly.search.router import CALL_TIMEOUT_S, ProviderEntry, Router, build_router
from kindly.search.searxng.pool_settings import PoolSettings
from kindly.search.state.sqlite_state import SqliteState
from kindly.search.state.state import State
from kindly.search.vendor_api import VendorApi
from kindly.settings import Settings
from kindly.storage.sqlite import MEMORY
from kindly.telemetry.warn_once import WarnOnce
from kindly.text.invisible import clean

if TYPE_CHECKING:
    import ssl

    import httpx2

MAX_NAME = 60
BRACKETS = {ord(sign): quote(sign) for sign in "<>＜＞﹤‹❮〈⟨《«≪"}
"""Signs that have no place in an address as they are."""


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """The router, and what is to be closed after it."""

    router: Router
    state: SharedState
    clients: "tuple[httpx2.AsyncClient, ...]"
    upkeep: tuple[Callable[[], Coroutine[Any, Any, None]], ...]
    """What some providers do beside searching, until cancelled."""
    redactor: Redactor

    async def search(self, query: Query, deadline: Deadline) -> Hits:
        """Hits from the first configured provider that answers, without what nobody would see."""
        return seen(await self.router.search(query, deadline), self.redactor)

    async def search_all(
        self, queries: Sequence[Query], deadline: Deadline, concurrency: int
    ) -> list[Hits | SearchError]:
        """The outcome of each query, in their order."""
        outcomes = await self.router.search_all(queries, deadline, concurrency)
        return [
            seen(outcome, self.redactor) if isinstance(outcome, Hits) else outcome
            for outcome in outcomes
        ]

    async def aclose(self) -> None:
        """Keep what was learned, and close everything."""
        await self.router.aclose()
        for client in self.clients:
            await client.aclose()
        await self.state.aclose()


def seen(found: Hits, redactor: Redactor) -> Hits:
    """Hits as a person would see them, before anything is cut: without invisible characters and without our keys,
    should a gateway send them back.
    """

    def visible(text: str) -> str:
        return redactor.text(clean(text)[0])

    hits = tuple(
        replace(
            hit,
            title=visible(hit.title),
            url=visible(hit.url).translate(BRACKETS),
            snippet=visible(hit.snippet),
            published=hit.published and visible(hit.published),
            engines=tuple(visible(name)[:MAX_NAME] for name in hit.engines),
        )
        for hit in found.hits
    )
    engines = tuple(visible(name)[:MAX_NAME] for name in found.engines)
    raw = (
        None
        if found.raw is None
        else {name: _each(item, visible) for name, item in found.raw.items()}
    )
    return replace(found, hits=hits, engines=engines, raw=raw)


def _each(value: object, change: Callable[[str], str]) -> object:
    """A JSON value with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each(item, change) for name, item in value.items()}
    return [_each(item, change) for item in value] if isinstance(value, list) else value


def build_search(
    settings: Settings,
    context: "ssl.SSLContext",
    policy: GuardPolicy,
    traffic: Traffic = STRAIGHT,
    alarm: WarnOnce | None = None,
) -> OpenSearch:
    """Search over the configured providers.

    Raises:
        SettingsError: a proxy setting cannot be used.
    """
    state = _state(settings, alarm)
    named = _client(settings, context, traffic)
    public = _client(settings, context, traffic, Guard(policy))
    entries = [
        _entry(settings, spec, public if spec.public_only else named, traffic.slots, state)
        for spec in settings.configured()
    ]
    router = build_router(
        entries,
        choices=setup_hints(),
        clock=SYSTEM_CLOCK,
        state=state,
        fuse=settings.fuse,
        cache_ttl_s=settings.search_cache_minutes * 60,
    )
    router = replace(router, budget_s=settings.search_timeout_s)
    upkeep = tuple(
        entry.provider.maintain for entry in entries if isinstance(entry.provider, Maintained)
    )
    return OpenSearch(router, state, (named, public), upkeep, Redactor.of(settings.secrets()))


def setup_hints(providers: Sequence[ProviderSpec] = PROVIDERS) -> SetupHints:
    """What the error names when no provider is set up: providers that need one setting and no further package."""
    single = [spec.needs[0] for spec in providers if len(spec.needs) == 1]
    keyless = [f"{need.name}=1" if need.kind == "flag" else need.name for need in single]
    return SetupHints(
        keys=tuple(need.name for need in single if need.kind == "secret"),
        keyless=tuple(
            name for need, name in zip(single, keyless, strict=True) if need.kind != "secret"
        ),
    )


def _state(settings: Settings, alarm: WarnOnce | None) -> SharedState:
    """The state of search: in the database of the library if servers share that, else in a file of this machine."""
    if not settings.keeps:
        return SqliteState(MEMORY, alarm)
    if settings.store_spec.search_state is not None:
        return settings.store_spec.search_state(settings.store.get_secret_value(), alarm)
    return SqliteState(str(settings.search_file), alarm)


def _entry(
    settings: Settings,
    spec: ProviderSpec,
    client: "httpx2.AsyncClient",
    slots: anyio.Semaphore | None,
    state: State,
) -> ProviderEntry:
    per_minute = settings.searches_per_minute
    gauge = RateLimits(SYSTEM_CLOCK, per_minute)
    values = {need.name: settings.needed[need.name] for need in spec.needs}
    base_url = settings.base_urls.get(spec.base_url_setting, spec.base_url)
    api = VendorApi(client, spec, gauge.learn, slots)
    access = Access(api, base_url, values, SYSTEM_CLOCK, state, pool_settings(settings))
    pace = spec.pace.at_most(per_minute)
    return ProviderEntry(spec.build(access), spec.label, pace, gauge, spec.scraped)


def pool_settings(settings: Settings) -> PoolSettings:
    """How the pool of public SearXNG instances behaves."""
    delays = sorted((settings.pool_delay_min_ms, settings.pool_delay_max_ms))
    return PoolSettings(
        health_check_interval_s=settings.pool_check_s,
        max_consecutive_failures=settings.pool_failures,
        rate_limit_backoff_base_s=settings.pool_backoff_s,
        request_delay_ms=(delays[0], delays[1]),
        rotate_user_agents=settings.pool_rotate_agents,
        use_random_instances=settings.pool_random,
    )


def _client(
    settings: Settings, context: "ssl.SSLContext", traffic: Traffic, guard: Guard | None = None
) -> "httpx2.AsyncClient":
    from kindly.fetch.guard.transport import GuardedTransport

    return build_client(
        timeout_s=max(CALL_TIMEOUT_S, settings.search_timeout_s + OVERTIME_S),
        user_agent=kindly.SERVER_NAME,
        context=context,
        proxies=api_proxies(settings),
        transport=GuardedTransport(guard, context) if guard else None,
        around=traffic.around,
    )
