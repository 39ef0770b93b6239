"""What a search provider is, and the facts about one that the rest of the program may know.

A provider takes a `Query` and a `Deadline` and gives hits in the vendor's order. It does not know
the other providers, the environment or who asks; it never retries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from kindly.budget import Deadline
from kindly.errors import ProviderAuth
from kindly.models import Hit, Query

if TYPE_CHECKING:
    import httpx2


class Secret(Protocol):
    """A value that shows itself only when asked, such as `pydantic.SecretStr`."""

    def get_secret_value(self) -> str:
        """The plain value; called at the moment of sending and kept nowhere."""
        ...


class SearchProvider(Protocol):
    """One vendor's search."""

    @property
    def name(self) -> str:
        """The name in settings and results."""
        ...

    async def search(self, query: Query, deadline: Deadline) -> tuple[Hit, ...]:
        """The hits in the vendor's order; none is a valid answer.

        Raises:
            SearchError: One of its provider leaves; `try_next` says whether to ask somebody else.
        """
        ...


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """One line of the catalogue: what a provider is called, what it needs, how it is built."""

    name: str
    label: str
    """How sentences call it."""
    key_setting: str
    base_url_setting: str
    base_url: str
    """Where the vendor serves it, unless the setting says otherwise."""
    build: Callable[["httpx2.AsyncClient", str, Secret], SearchProvider]
    """Takes the API client, the base URL and the key."""
    limit_statuses: frozenset[int] = frozenset({429})
    """HTTP statuses that mean: rate limit or quota reached."""
    status_notes: Mapping[int, str] = field(default_factory=dict, hash=False)
    """What else a status means at this vendor, as a sentence that ends an error's text."""


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
