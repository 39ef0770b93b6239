"""SearXNG: Query → hits of the user's own instances, called in turn.

Filters and formats are those of `searxng.searxng_api`: JSON first, and the results page where JSON is disabled.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from kindly.budget import Deadline
from kindly.concurrency.cooldown import Cooldowns
from kindly.errors import ProviderRejected, SearchError
from kindly.frozen import frozen
from kindly.models import ProviderResults, Query
from kindly.redact import Secret
from kindly.search.provider import Access, Need, Pace, ProviderApi, ProviderSpec, SearchProvider
from kindly.search.searxng.result_pages import FINISH_S, with_further_pages
from kindly.search.searxng.searxng_api import json_is_off, search_instance, shown


def build(access: Access) -> SearchProvider:
    """The provider over the addresses of the setting."""
    time = access.clock.monotonic
    memory = InstanceMemory(Cooldowns(time), Cooldowns(time))
    return SearXNG(access.api, access.values["SEARXNG_BASE_URL"], memory, access.wait)


SPEC = ProviderSpec(
    name="searxng",
    label="SearXNG",
    needs=(
        Need(
            "SEARXNG_BASE_URL",
            "addresses",
            "Your own SearXNG, or several with commas between them.",
            title="SearXNG",
            example="https://search.example.com",
        ),
    ),
    build=build,
    # The user's own server has no plan; this limit protects the engines behind it.
    pace=Pace(calls=10, per_s=1),
    status_notes={
        429: "Your own SearXNG can exempt this address: `pass_ip` in its limiter.toml.",
    },
    status_sentences={
        # SearXNG itself has no API keys.
        302: (
            "SearXNG redirected the search (HTTP {status}), as its rate limiter does with suspected "
            "bots; otherwise check {key_setting}."
        ),
        401: "A server in front of SearXNG requires a login (HTTP {status}): check {key_setting}.",
        403: "SearXNG, or a server in front of it, denies access (HTTP {status}): check {key_setting}.",
    },
)
FAILED_S = 60.0
"""How long an instance that failed is called only after the others."""
JSON_OFF_S = 86_400.0
"""How long an instance that does not serve JSON is asked for its results page only."""


@dataclass
class InstanceMemory:
    """What was learned about the instances since the start."""

    failed: Cooldowns[str]
    json_off: Cooldowns[str]
    next_index: int = 0


@frozen
class SearXNG:
    """The user's instances."""

    api: ProviderApi
    addresses: Secret = field(repr=False)
    memory: InstanceMemory = field(repr=False)
    wait: Callable[[Deadline], Awaitable[None]] | None = field(default=None, repr=False)
    """Waits until the rate limit allows a further request."""
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The results of the first instance that answers, of as many of its pages as the query needs.

        Raises:
            SearchError: The first instance's error, if none answered; `attempted` lists all that were called.
        """
        instances = self._in_turn(to_addresses(self.addresses.get_secret_value()))
        first_error: SearchError | None = None
        attempted: list[str] = []
        for others_left, instance in zip(reversed(range(len(instances))), instances, strict=True):
            if first_error is not None and not deadline.remaining_s():
                break
            share = deadline.within(deadline.remaining_s() / (others_left + 1))
            attempted.append(shown(instance))
            try:
                first = await self._search_one(instance, query, share)
            except SearchError as error:
                self.memory.failed.start(instance, FAILED_S)
                first_error = first_error or error
            else:
                next_page = partial(self._next_page, instance, deadline.minus(FINISH_S))
                return await with_further_pages(first, query, next_page)
        raise first_error.replace(attempted=tuple(attempted)) if first_error else no_address()

    async def _next_page(
        self, instance: str, deadline: Deadline, query: Query
    ) -> ProviderResults | None:
        """A further page, or None if it does not arrive in time."""
        try:
            if self.wait is not None:
                await self.wait(deadline)
            return await self._search_one(instance, query, deadline)
        except SearchError:
            return None

    async def _search_one(self, instance: str, query: Query, deadline: Deadline) -> ProviderResults:
        try_json = not self.memory.json_off.is_active(instance)
        if try_json:
            try:
                return await search_instance(self.api, instance, query, deadline, json=True)
            except SearchError as error:
                if not json_is_off(error):
                    raise
        found = await search_instance(self.api, instance, query, deadline, json=False)
        if try_json:
            self.memory.json_off.start(instance, JSON_OFF_S)
        return found

    def _in_turn(self, instances: list[str]) -> list[str]:
        """The instances, starting with the next one in turn; those that failed lately come last."""
        if not instances:
            return []
        start = self.memory.next_index % len(instances)
        self.memory.next_index += 1
        return sorted(instances[start:] + instances[:start], key=self.memory.failed.is_active)


def to_addresses(value: str) -> list[str]:
    """The addresses in the setting.

    Raises:
        ProviderRejected: One of them is not a web address.
    """
    addresses = [part.strip() for part in value.split(",") if part.strip()]
    if not all(map(_is_web_address, addresses)):
        raise no_address()
    return addresses


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text.isprintable()


def no_address() -> ProviderRejected:
    """The error for a setting without a usable address."""
    return ProviderRejected(
        "SEARXNG_BASE_URL contains no usable address: write it like https://searx.example.org, "
        "several with commas between them.",
        provider=SPEC.name,
    )
