"""The public SearXNG pool: Query → hits of a healthy instance that searx.space lists.

`searxng.instance_pool` decides which instance is called and how often, `searxng.searxng_api` how. Public instances are
asked for their results page: JSON is disabled on most, and their rate limiter allows four JSON requests an hour.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kindly.budget import Deadline
from kindly.errors import FetchError, ProviderUnreachable
from kindly.frozen import frozen
from kindly.models import ProviderResults, Query
from kindly.search.pool_settings import POOL_NAME, PoolSettings
from kindly.search.provider import Access, Need, Option, Pace, ProviderApi, ProviderSpec

if TYPE_CHECKING:
    from kindly.search.searxng.instance_pool import InstancePool

CHECK_S: Option[float] = Option(
    "KINDLY_POOL_CHECK_S",
    "number",
    "Seconds between health checks of public SearXNG instances.",
    default=300,
    low=10,
    high=86_400,
)
FAILURES = Option(
    "KINDLY_POOL_FAILURES",
    "integer",
    "Failures in a row after which an instance is paused.",
    default=3,
    low=1,
    high=100,
)
BACKOFF_S: Option[float] = Option(
    "KINDLY_POOL_BACKOFF_S",
    "number",
    "Seconds of its first pause; doubled for each further one.",
    default=60,
    low=1,
    high=86_400,
)
ROTATE_AGENTS = Option(
    "KINDLY_POOL_ROTATE_AGENTS",
    "flag",
    "Use another User-Agent for each search of the pool.",
    default=True,
)
DELAY_MIN_MS = Option(
    "KINDLY_POOL_DELAY_MIN_MS",
    "integer",
    "Minimum of the random delay before a search of the pool.",
    default=100,
    low=0,
    high=60_000,
)
DELAY_MAX_MS = Option(
    "KINDLY_POOL_DELAY_MAX_MS",
    "integer",
    "Maximum of the random delay before a search of the pool.",
    default=500,
    low=0,
    high=60_000,
)
RANDOM = Option(
    "KINDLY_POOL_RANDOM",
    "flag",
    "Start with a random instance; 0, with the best one.",
    default=True,
)


def pool_settings(options: Mapping[str, Any]) -> PoolSettings:
    """How the pool behaves, given the values of the options."""
    delays = sorted((DELAY_MIN_MS.of(options), DELAY_MAX_MS.of(options)))
    return PoolSettings(
        health_check_interval_s=CHECK_S.of(options),
        max_consecutive_failures=FAILURES.of(options),
        rate_limit_backoff_base_s=BACKOFF_S.of(options),
        request_delay_ms=(delays[0], delays[1]),
        rotate_user_agents=ROTATE_AGENTS.of(options),
        use_random_instances=RANDOM.of(options),
    )


def build(access: Access) -> "InstancePool":
    """The pool over the instances of the list. Its modules are imported here: most servers use none."""
    from kindly.search.searxng.instance_pool import InstancePool

    return InstancePool(
        requests=InstanceRequests(access.api, access.base_url),
        clock=access.clock,
        state=access.state,
        settings=pool_settings(access.options),
    )


SPEC = ProviderSpec(
    name=POOL_NAME,
    label="The public SearXNG pool",
    needs=(
        Need(
            "KINDLY_SEARXNG_POOL",
            "flag",
            "Search through public SearXNG instances; needs no key.",
            title="Public SearXNG pool",
        ),
    ),
    build=build,
    pace=Pace(calls=1, per_s=1),
    options=(
        CHECK_S,
        FAILURES,
        BACKOFF_S,
        ROTATE_AGENTS,
        DELAY_MIN_MS,
        DELAY_MAX_MS,
        RANDOM,
    ),
    base_url_setting="SEARX_SPACE_URL",
    base_url="https://searx.space/data/instances.json",
    scraped=True,
    public_only=True,
)


@frozen
class InstanceRequests:
    """The pool's requests. An instance whose address the SSRF guard refuses counts as unreachable."""

    api: ProviderApi
    list_url: str

    async def instance_list(self, deadline: Deadline) -> bytes:
        return await self._send(self.list_url, deadline)

    async def search(
        self, instance: str, query: Query, deadline: Deadline, user_agent: str
    ) -> ProviderResults:
        from kindly.search.searxng.searxng_api import search_instance

        try:
            return await search_instance(
                self.api, instance, query, deadline, json=False, user_agent=user_agent
            )
        except FetchError as error:
            raise _unreachable(error) from None

    async def probe(self, instance: str, deadline: Deadline) -> None:
        """Call the instance's own health check, which its rate limiter does not count."""
        await self._send(f"{instance.rstrip('/')}/healthz", deadline)

    async def _send(self, url: str, deadline: Deadline) -> bytes:
        try:
            return await self.api.send(self.api.client.build_request("GET", url), deadline)
        except FetchError as error:
            raise _unreachable(error) from None


def _unreachable(error: FetchError) -> ProviderUnreachable:
    return ProviderUnreachable(error.detail, provider=POOL_NAME)
