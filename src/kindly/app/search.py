"""Settings → the search router with its HTTP clients and its state. Imported at the first search, not at the start.

Two clients: one may reach whatever the user configured; the other, for addresses from outside, only what the SSRF
guard allows.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from kindly.app.stage_settings import api_proxies
from kindly.clock import SYSTEM_CLOCK
from kindly.fetch.guard.guard import Guard, GuardPolicy
from kindly.frozen import frozen
from kindly.net.api_client import STRAIGHT, Traffic, build_client
from kindly.redact import Redactor
from kindly.search.attempt import SetupHints
from kindly.search.managed_provider import OVERTIME_S
from kindly.search.provider import Access, Maintained, ProviderSpec
from kindly.search.provider_pacing import Pacer
from kindly.search.rate_limits import RateLimits
from kindly.search.router import (
    CALL_TIMEOUT_S,
    ProviderEntry,
    Router,
    RouterSettings,
    build_router,
)
from kindly.search.state.sqlite_state import SqliteState
from kindly.search.vendor_api import VendorApi
from kindly.settings import Settings
from kindly.storage.sqlite import MEMORY
from kindly.storage.state import State
from kindly.telemetry.warn_once import WarnOnce
from kindly.version import SERVER_NAME

if TYPE_CHECKING:
    import ssl

    import httpx2


@frozen
class OpenSearch:
    """The router, and what must be closed after it."""

    router: Router
    state: State
    clients: "tuple[httpx2.AsyncClient, ...]"
    maintenance: tuple[Callable[[], Coroutine[Any, Any, None]], ...]
    """Background work of some providers; each runs until cancelled."""

    async def aclose(self) -> None:
        """Save the statistics, and close everything."""
        await self.router.aclose()
        for client in self.clients:
            await client.aclose()
        await self.state.aclose()


def build_search(
    settings: Settings,
    context: "ssl.SSLContext",
    policy: GuardPolicy,
    traffic: Traffic = STRAIGHT,
    warn_once: WarnOnce | None = None,
) -> OpenSearch:
    """Search over the configured providers.

    Raises:
        SettingsError: a proxy setting cannot be used.
    """
    state = _state(settings, warn_once)
    configured = _client(settings, context, traffic)
    public = _client(settings, context, traffic, Guard(policy))
    entries = [
        _entry(settings, spec, public if spec.public_only else configured, traffic.slots, state)
        for spec in settings.configured()
    ]
    router = build_router(
        entries,
        clock=SYSTEM_CLOCK,
        state=state,
        hints=setup_hints(settings.usable_providers()),
        redactor=Redactor.of(settings.secrets()),
        settings=RouterSettings(
            parallel=settings.fuse,
            cache_ttl_s=settings.search_cache_minutes * 60,
            budget_s=settings.search_timeout_s,
            concurrency=settings.concurrency,
            queues=settings.profile_defaults.queues_searches,
        ),
    )
    maintenance = tuple(
        entry.provider.maintain for entry in entries if isinstance(entry.provider, Maintained)
    )
    return OpenSearch(router, state, (configured, public), maintenance)


def setup_hints(providers: Sequence[ProviderSpec]) -> SetupHints:
    """Settings that the error names when no provider is configured: of providers that need only one setting."""
    single = [spec.needs[0] for spec in providers if len(spec.needs) == 1]
    keyless = (need for need in single if need.kind != "secret")
    return SetupHints(
        keys=tuple(need.name for need in single if need.kind == "secret"),
        keyless=tuple(f"{need.name}=1" if need.kind == "flag" else need.name for need in keyless),
    )


def _state(settings: Settings, warn_once: WarnOnce | None) -> State:
    """The search state: in the library's database if servers share that, else in a file of this machine."""
    if not settings.keeps:
        return SqliteState(MEMORY, warn_once)
    if settings.store_spec.search_state is not None:
        return settings.store_spec.search_state(settings.store.get_secret_value(), warn_once)
    return SqliteState(str(settings.search_file), warn_once)


def _entry(
    settings: Settings,
    spec: ProviderSpec,
    client: "httpx2.AsyncClient",
    slots: anyio.Semaphore | None,
    state: State,
) -> ProviderEntry:
    limits = RateLimits(SYSTEM_CLOCK, settings.searches_per_minute)
    values = {need.name: settings.needed[need.name] for need in spec.needs}
    base_url = settings.base_urls.get(spec.base_url_setting, spec.base_url)
    api = VendorApi(client, spec, limits.learn, slots, SYSTEM_CLOCK)
    pace = spec.pace.at_most(settings.searches_per_minute, burst=not spec.scraped)
    pacer = Pacer(spec.name, spec.label, pace, limits, SYSTEM_CLOCK.sleep)
    access = Access(api, base_url, values, SYSTEM_CLOCK, state, settings.options, pacer.wait)
    return ProviderEntry(spec.build(access), pacer, spec.scraped, spec.pages, spec.filters)


def _client(
    settings: Settings, context: "ssl.SSLContext", traffic: Traffic, guard: Guard | None = None
) -> "httpx2.AsyncClient":
    from kindly.fetch.guard.transport import GuardedTransport

    return build_client(
        timeout_s=max(CALL_TIMEOUT_S, settings.search_timeout_s + OVERTIME_S),
        user_agent=SERVER_NAME,
        context=context,
        proxies=api_proxies(settings),
        transport=GuardedTransport(guard, context) if guard else None,
        around=traffic.around,
    )
