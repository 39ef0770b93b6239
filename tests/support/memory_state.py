"""A key-value store in memory, for tests of search."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kindly.storage.state import Json


@dataclass
class MemoryState:
    """A `State` that lasts as long as the object."""

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

    async def aclose(self) -> None:
        """No effect: nothing is open."""
