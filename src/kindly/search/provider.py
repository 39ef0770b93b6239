"""What a search provider is, and the facts about one that the rest of the program may know.

A provider takes a `Query` and a `Deadline` and gives what it found, in the vendor's order. It does not know the other
providers, the environment or who asks; it never retries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.errors import ProviderAuth, SearchError
from kindly.models import ProviderResults, Query
from kindly.needs import Need as Need
from kindly.redact import Secret

if TYPE_CHECKING:
    from kindly.search.searxng.pool_settings import PoolSettings
    from kindly.search.state.state import State
    from kindly.search.vendor_api import VendorApi


class SearchProvider(Protocol):
    """One vendor's search."""

    @property
    def name(self) -> str:
        """The name in settings and results."""
        ...

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """What the vendor found; no hits is a valid answer.

        Raises:
            SearchError: One of its provider leaves; `try_next` says whether to ask somebody else.
        """
        ...


@runtime_checkable
class Maintained(Protocol):
    """A provider that has work to do beside its searches."""

    async def maintain(self) -> None:
        """Do it, until cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a vendor's usual plan lets itself be asked."""

    calls: float
    per_s: float

    def at_most(self, per_minute: int | None) -> "Pace":
        """This pace, or a slower one that keeps both to it and to so many calls a minute."""
        if per_minute is None or per_minute / 60 >= self.calls / self.per_s:
            return self
        bursts = self.per_s >= 60 or per_minute <= self.calls
        return Pace(per_minute, 60) if bursts else Pace(1, 60 / per_minute)


@dataclass(frozen=True, slots=True)
class Access:
    """What a provider is built from."""

    api: "VendorApi"
    base_url: str
    values: Mapping[str, Secret]
    """The needed settings by name."""
    clock: Clock
    state: "State"
    """For providers that remember something between starts."""
    pool: "PoolSettings | None" = None
    """How the pool of public instances behaves, where that was set."""


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One line of the catalogue: what a provider is called, what it needs, how it is built."""

    name: str
    label: str
    """How sentences call it."""
    needs: tuple[Need, ...]
    build: Callable[[Access], SearchProvider]
    pace: Pace
    base_url_setting: str = ""
    base_url: str = ""
    """Where the vendor serves it, unless the setting says otherwise."""
    library: tuple[str, str] | None = None
    """A module that it needs, and the extra that installs it."""
    scraped: bool = False
    """Whether it reads results off pages meant for people, and may be fobbed off with nonsense."""
    public_only: bool = False
    """Whether its addresses come from outside, so that only public ones may be asked."""
    limit_statuses: frozenset[int] = frozenset({429})
    """HTTP statuses that mean: rate limit or quota reached."""
    status_notes: Mapping[int, str] = field(default_factory=dict, hash=False)
    """What else a status means at this vendor, as a sentence that ends an error's text."""
    reasons: Mapping[str, type[SearchError]] = field(default_factory=dict, hash=False)
    """Words in a refusal's JSON that say more than its HTTP 4xx; of its body nothing else is looked at."""

    @property
    def key_setting(self) -> str:
        """The setting to check when the vendor refuses us."""
        return self.needs[0].name

    @property
    def address_setting(self) -> str:
        """The setting to check when the vendor is not where it should be."""
        return self.base_url_setting or self.key_setting


def reveal(key: Secret, spec: ProviderSpec) -> str:
    """The plain key, for a header.

    Raises:
        ProviderAuth: No header can carry it. Refused here, as the HTTP library would show it.
    """
    plain = key.get_secret_value()
    if plain and plain.isascii() and plain.isprintable():
        return plain
    raise ProviderAuth(
        f"The key for {spec.label} is empty or has characters that cannot be sent: "
        f"copy {spec.key_setting} again.",
        provider=spec.name,
    )
