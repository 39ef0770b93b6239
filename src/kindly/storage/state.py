"""The protocol of a key-value store for small JSON objects by kind and key, which several servers may share.

Search keeps provider statistics, rate limits and instance health in one between starts. Never a query.
"""

from collections.abc import Mapping
from typing import Any, Protocol

Json = dict[str, Any]


class State(Protocol):
    """A key-value store."""

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind, by key."""
        ...

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set values of a kind; None deletes one. Never raises: a value that cannot be saved is logged and lost."""
        ...

    async def aclose(self) -> None: ...
