"""What search remembers between starts: small JSON values by kind and key. Never a query."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

Json = dict[str, Any]


class State(Protocol):
    """Key-value storage for provider statistics, rate limits and instance health."""

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind, by key."""
        ...

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set values of a kind; None deletes one. Never raises: a value that cannot be saved is logged and lost."""
        ...


@dataclass
class MemoryState:
    """State that lasts as long as the process."""

    kinds: dict[str, dict[str, Json]] = field(default_factory=dict)

    async def load(self, kind: str) -> Mapping[str, Json]:
        return dict(self.kinds.get(kind, {}))

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        stored = self.kinds.setdefault(kind, {})
        for key, value in values.items():
            if value is None:
                stored.pop(key, None)
            else:
                stored[key] = value
