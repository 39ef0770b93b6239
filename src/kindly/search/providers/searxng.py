"""SearXNG: Query → hits of the user's own instances, asked in turn.

Filters and formats are those of `searxng.searxng_api`: JSON first, and the results page where JSON is off.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kindly.budget import Deadline
from kindly.errors import ProviderRejected, SearchError
from kindly.models import ProviderResults, Query
from kindly.redact import Secret
from kindly.search.provider import Need, Pace, ProviderSpec
from kindly.search.searxng.searxng_api import ask_instance, json_is_off
from kindly.search.vendor_api import VendorApi

SPEC = ProviderSpec(
    name="searxng",
    label="SearXNG",
    needs=(
        Need(
            "SEARXNG_BASE_URL",
            "addresses",
            "Your own SearXNG, or several with commas between them.",
        ),
    ),
    build=lambda access: SearXNG(access.api, access.values["SEARXNG_BASE_URL"], access.clock.time),
    # One's own server has no plan; this spares the engines behind it.
    pace=Pace(calls=10, per_s=1),
    status_notes={
        302: "A SearXNG limiter sends addresses away so that it takes for a bot's.",
        401: "SearXNG itself knows no keys: something in front of it wants a login.",
        403: "SearXNG itself knows no keys: something in front of it turns us away.",
        429: "An own SearXNG can let us through its limiter: `pass_ip` in its limiter.toml.",
    },
)
REST_S = 60.0
"""How long an instance that failed is asked only after the others."""
JSON_OFF_S = 86_400.0
"""How long an instance that does not serve JSON is asked for its results page at once."""


@dataclass
class FormatMemory:
    """What was learned about the instances since the start."""

    turn: int = 0
    resting_until: dict[str, float] = field(default_factory=dict)
    json_off_until: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearXNG:
    """The user's instances."""

    api: VendorApi
    addresses: Secret = field(repr=False)
    now: Callable[[], float]
    memory: FormatMemory = field(default_factory=FormatMemory, repr=False)
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """What the first instance that answers found.

        Raises:
            SearchError: The first one's error, if none did.
        """
        instances = self._in_turn(to_addresses(self.addresses.get_secret_value()))
        first_error: SearchError | None = None
        for others_left, instance in zip(reversed(range(len(instances))), instances, strict=True):
            if first_error is not None and not deadline.remaining_s():
                break
            share = deadline.within(deadline.remaining_s() / (others_left + 1))
            try:
                return await self._ask(instance, query, share)
            except SearchError as error:
                self.memory.resting_until[instance] = self.now() + REST_S
                first_error = first_error or error
        raise first_error or no_address()

    async def _ask(self, instance: str, query: Query, deadline: Deadline) -> ProviderResults:
        json_off_until = self.memory.json_off_until
        try_json = json_off_until.get(instance, 0.0) <= self.now()
        if try_json:
            try:
                return await ask_instance(self.api, instance, query, deadline, json=True)
            except SearchError as error:
                if not json_is_off(error):
                    raise
        found = await ask_instance(self.api, instance, query, deadline, json=False)
        if try_json:
            json_off_until[instance] = self.now() + JSON_OFF_S
        return found

    def _in_turn(self, instances: list[str]) -> list[str]:
        """The instances from the one whose turn it is, those that rest behind the others."""
        if not instances:
            return []
        start = self.memory.turn % len(instances)
        self.memory.turn += 1
        now, resting = self.now(), self.memory.resting_until
        return sorted(
            instances[start:] + instances[:start], key=lambda each: resting.get(each, 0.0) > now
        )


def to_addresses(value: str) -> list[str]:
    """The addresses in a setting.

    Raises:
        ProviderRejected: One of them is no web address.
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
    """The error for a setting that names no server."""
    return ProviderRejected(
        "SEARXNG_BASE_URL holds no usable address: give it as in https://searx.example.org, "
        "several with commas between them.",
        provider=SPEC.name,
    )
