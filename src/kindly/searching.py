"""Settings → the search router with its clients and its memory. Imported at the first search, not at the start.

Two clients: one may reach whatever the user named, the other, for addresses that come from outside, only what the
guard allows.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import kindly
from kindly.fetch.guard import Guard, GuardPolicy
from kindly.search.client import Proxies, build_client
from kindly.search.exchange import Api
from kindly.search.gauge import Gauge
from kindly.search.lane import OVERTIME_S
from kindly.search.pool_settings import PoolSettings
from kindly.search.provider import Access, Maintained, ProviderSpec
from kindly.search.rounds import Choices
from kindly.search.router import CALL_TIMEOUT_S, Entry, Router, build_router
from kindly.search.state import SqliteState
from kindly.search.world import World
from kindly.settings import Settings, revealed

if TYPE_CHECKING:
    import ssl

    import httpx2

CHOICES = Choices(
    keys=("SERPER_API_KEY", "TAVILY_API_KEY"),
    keyless=("KINDLY_KEYLESS=1", "KINDLY_SEARXNG_POOL=1", "SEARXNG_BASE_URL"),
)
"""What the error names when no provider is set up."""


@dataclass(frozen=True, slots=True)
class Searching:
    """The router, and what is to be closed after it."""

    router: Router
    state: SqliteState
    clients: "tuple[httpx2.AsyncClient, ...]"
    upkeep: tuple[Callable[[], Coroutine[Any, Any, None]], ...]
    """What some providers do beside searching, until cancelled."""

    async def aclose(self) -> None:
        """Keep what was learned, and close everything."""
        await self.router.aclose()
        for client in self.clients:
            await client.aclose()
        await self.state.aclose()


def build_search(settings: Settings, context: "ssl.SSLContext", policy: GuardPolicy) -> Searching:
    """Search over the configured providers.

    Raises:
        SettingsError: a proxy setting cannot be used.
    """
    state = SqliteState(str(settings.data_path / "search.sqlite"))
    world = World(state=state)
    named = _client(settings, context)
    public = _client(settings, context, Guard(policy))
    entries = [
        _entry(settings, spec, public if spec.public_only else named, world)
        for spec in settings.configured()
    ]
    router = build_router(
        entries,
        choices=CHOICES,
        world=world,
        fuse=settings.fuse,
        cache_ttl_s=settings.search_cache_minutes * 60,
    )
    router = replace(router, budget_s=settings.search_timeout_s)
    upkeep = tuple(
        entry.provider.maintain for entry in entries if isinstance(entry.provider, Maintained)
    )
    return Searching(router, state, (named, public), upkeep)


def _entry(
    settings: Settings, spec: ProviderSpec, client: "httpx2.AsyncClient", world: World
) -> Entry:
    per_minute = settings.searches_per_minute
    gauge = Gauge(world.now, per_minute)
    values = {need.name: settings.needed[need.name] for need in spec.needs}
    base_url = settings.base_urls.get(spec.base_url_setting, spec.base_url)
    access = Access(Api(client, spec, gauge.note), base_url, values, world, pool_settings(settings))
    pace = spec.pace.at_most(per_minute)
    return Entry(spec.build(access), spec.label, pace, gauge, spec.scraped)


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
    settings: Settings, context: "ssl.SSLContext", guard: Guard | None = None
) -> "httpx2.AsyncClient":
    from kindly.fetch.transport import GuardedTransport

    return build_client(
        timeout_s=max(CALL_TIMEOUT_S, settings.search_timeout_s + OVERTIME_S),
        user_agent=kindly.SERVER_NAME,
        context=context,
        proxies=Proxies(
            revealed(settings.https_proxy), revealed(settings.http_proxy), settings.no_proxy
        ),
        transport=GuardedTransport(guard, context) if guard else None,
    )
