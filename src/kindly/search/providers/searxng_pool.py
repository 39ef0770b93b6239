"""The public SearXNG pool: Query → hits of a healthy instance that searx.space lists.

`searxng.instance_pool` decides which instance is called and how often, `searxng.searxng_api` how. Public instances are
asked for their results page: JSON is disabled on most, and their rate limiter allows four JSON requests an hour.
"""

from dataclasses import dataclass

from kindly.budget import Deadline
from kindly.errors import FetchError, ProviderUnreachable
from kindly.models import ProviderResults, Query
from kindly.search.pool_settings import PoolSettings
from kindly.search.provider import Access, Need, Pace, ProviderApi, ProviderSpec
from kindly.search.searxng.instance_pool import NAME, InstancePool
from kindly.search.searxng.searxng_api import search_instance


def build(access: Access) -> InstancePool:
    """The pool over the instances of the list."""
    return InstancePool(
        requests=InstanceRequests(access.api, access.base_url),
        clock=access.clock,
        state=access.state,
        settings=access.pool or PoolSettings(),
    )


SPEC = ProviderSpec(
    name=NAME,
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
    base_url_setting="SEARX_SPACE_URL",
    base_url="https://searx.space/data/instances.json",
    scraped=True,
    public_only=True,
)


@dataclass(frozen=True, slots=True)
class InstanceRequests:
    """The pool's requests. An instance whose address the SSRF guard refuses counts as unreachable."""

    api: ProviderApi
    list_url: str

    async def instance_list(self, deadline: Deadline) -> bytes:
        return await self._send(self.list_url, deadline)

    async def search(
        self, instance: str, query: Query, deadline: Deadline, user_agent: str
    ) -> ProviderResults:
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
    return ProviderUnreachable(error.detail, provider=NAME)
