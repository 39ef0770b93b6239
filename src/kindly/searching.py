"""Settings → the search router with its clients and its memory. Imported at the first search, not at the start.

Two clients: one may reach whatever the user named, the other, for addresses that come from outside, only what the
guard allows.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kindly
from kindly.fetch.guard import Guard, GuardPolicy
from kindly.search.client import Proxies, build_client
from kindly.search.exchange import Api
from kindly.search.gauge import Gauge
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
    upkeep = tuple(
        entry.provider.maintain for entry in entries if isinstance(entry.provider, Maintained)
    )
    return Searching(router, state, (named, public), upkeep)


def _entry(
    settings: Settings, spec: ProviderSpec, client: "httpx2.AsyncClient", world: World
) -> Entry:
    gauge = Gauge(world.now)
    values = {need.name: settings.needed[need.name] for need in spec.needs}
    base_url = settings.base_urls.get(spec.base_url_setting, spec.base_url)
    provider = spec.build(Access(Api(client, spec, gauge.note), base_url, values, world))
    return Entry(provider, spec.label, spec.pace, gauge, spec.scraped)


def _client(
    settings: Settings, context: "ssl.SSLContext", guard: Guard | None = None
) -> "httpx2.AsyncClient":
    from kindly.fetch.transport import GuardedTransport

    return build_client(
        timeout_s=CALL_TIMEOUT_S,
        user_agent=kindly.SERVER_NAME,
        context=context,
        proxies=Proxies(
            revealed(settings.https_proxy), revealed(settings.http_proxy), settings.no_proxy
        ),
        transport=GuardedTransport(guard, context) if guard else None,
    )
