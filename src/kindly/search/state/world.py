"""Clock, chance and memory as search uses them, passed in so that tests decide them: days can pass in a second."""

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

Json = dict[str, Any]


class State(Protocol):
    """What search remembers between starts: small JSON values by name. No query is ever among them."""

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind, by their key."""
        ...

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set values of a kind; None forgets one. Must not fail: what cannot be kept is lost with a log line."""
        ...


@dataclass
class MemoryState:
    """State that lasts as long as the program."""

    kinds: dict[str, dict[str, Json]] = field(default_factory=dict)

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind."""
        return dict(self.kinds.get(kind, {}))

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set or forget values of a kind."""
        kept = self.kinds.setdefault(kind, {})
        for key, value in values.items():
            if value is None:
                kept.pop(key, None)
            else:
                kept[key] = value


@dataclass(frozen=True, slots=True)
class SearchClock:
    """Time, chance and memory."""

    now: Callable[[], float] = time.time  # noqa: TID251 - the one place where search takes the wall clock
    """Seconds since the epoch: comparable between starts."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    rand: Callable[[], float] = random.random
    """From 0 up to 1."""
    state: State = field(default_factory=MemoryState)
