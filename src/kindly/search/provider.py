"""The search provider protocol, and the facts about a provider that the rest of the program uses.

A provider takes a `Query` and a `Deadline` and returns its results in the vendor's order. It knows neither the other
providers nor the environment, and never retries.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import ProviderAuth, SearchError
from kindly.frozen import frozen
from kindly.models import ProviderResults, Query
from kindly.plugin_settings import Need as Need
from kindly.plugin_settings import Option as Option
from kindly.redact import Secret
from kindly.storage.state import State

if TYPE_CHECKING:
    import httpx2


class SearchProvider(Protocol):
    """One vendor's search."""

    @property
    def name(self) -> str:
        """The name in settings and results."""
        ...

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The vendor's results; an empty list is a valid answer.

        Raises:
            SearchError: One of its provider classes; `try_next` says whether to call another provider.
        """
        ...


class ProviderApi(Protocol):
    """A vendor's HTTP API, as a provider calls it."""

    @property
    def client(self) -> "httpx2.AsyncClient":
        """Builds the requests."""
        ...

    @property
    def spec(self) -> "ProviderSpec":
        """The provider whose name and settings errors mention."""
        ...

    async def json(self, request: "httpx2.Request", deadline: Deadline) -> dict[str, object]:
        """Send a request; return the JSON object of the response.

        Raises:
            SearchError: One of its provider classes.
        """
        ...

    async def send(self, request: "httpx2.Request", deadline: Deadline) -> bytes:
        """Send a request; return the body of the response.

        Raises:
            SearchError: One of its provider classes.
        """
        ...


@runtime_checkable
class Maintained(Protocol):
    """A provider with background work."""

    async def maintain(self) -> None:
        """Run until cancelled."""
        ...


@frozen
class Pace:
    """A rate limit: so many calls in so many seconds."""

    calls: float
    per_s: float

    def at_most(self, per_minute: int | None, *, burst: bool = False) -> "Pace":
        """This pace, slowed where necessary to so many calls a minute.

        With `burst`, a minute's calls may be made at once; otherwise only if this pace allows that.
        """
        if per_minute is None or per_minute / 60 >= self.calls / self.per_s:
            return self
        bursts = burst or self.per_s >= 60 or per_minute <= self.calls
        return Pace(per_minute, 60) if bursts else Pace(1, 60 / per_minute)


@frozen
class Access:
    """What a provider is built from."""

    api: ProviderApi
    base_url: str
    values: Mapping[str, Secret]
    """The required settings, by name."""
    clock: Clock
    state: State
    """For providers that remember something between starts."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The values of all options, by name."""
    wait: Callable[[Deadline], Awaitable[None]] | None = None
    """Waits until the rate limit allows a further request of the same search; raises `ProviderRateLimited`."""


@frozen
class ProviderSpec:
    """The declaration of a provider: its name, its settings, its limits, how it is built."""

    name: str
    label: str
    """The provider's name in messages."""
    needs: tuple[Need, ...]
    build: Callable[[Access], SearchProvider]
    pace: Pace
    options: tuple[Option[Any], ...] = ()
    """Settings that it can do without."""
    base_url_setting: str = ""
    base_url: str = ""
    """The vendor's address, unless the setting overrides it."""
    library: tuple[str, str] | None = None
    """An optional module that it imports, and the extra that installs it."""
    scraped: bool = False
    """Whether it parses web pages meant for people, and may get unrelated results as a robot."""
    public_only: bool = False
    """Whether its addresses come from outside, so that only public ones may be contacted."""
    limit_statuses: frozenset[int] = frozenset({429})
    """HTTP statuses that mean that a rate limit or quota is reached."""
    status_notes: Mapping[int, str] = field(default_factory=dict, hash=False)
    """What else a status means at this vendor: a sentence that is added to the error."""
    status_sentences: Mapping[int, str] = field(default_factory=dict, hash=False)
    """The error's sentence for a status, where the usual one is wrong for this vendor."""
    pages: Callable[[Query], tuple[Query, ...]] = lambda query: (query,)
    """The searches, one page each, that together give as many results as a query asks for."""
    filters: Callable[[Query], frozenset[str]] = lambda query: frozenset()
    """The domain and date filters that it sends for a query, by name; the results are checked for all."""
    reasons: Mapping[str, type[SearchError]] = field(default_factory=dict, hash=False)
    """Error codes in the JSON of an HTTP 4xx that say more than the status; nothing else of its body is read."""

    @property
    def key_setting(self) -> str:
        """The setting to check when the vendor refuses the key."""
        return self.needs[0].name

    @property
    def address_setting(self) -> str:
        """The setting to check when the address seems wrong."""
        return self.base_url_setting or self.key_setting


def reveal(key: Secret, spec: ProviderSpec) -> str:
    """The plain key, for a header.

    Raises:
        ProviderAuth: No header can carry it. It is refused here because the HTTP library's error would show it.
    """
    plain = key.get_secret_value()
    if plain and plain.isascii() and plain.isprintable():
        return plain
    raise ProviderAuth(
        f"The key for {spec.label} is empty or contains characters that cannot be sent: "
        f"copy {spec.key_setting} again.",
        provider=spec.name,
    )
