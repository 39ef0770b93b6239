"""Cool-downs: do not use something before a moment. The clock is passed in; nothing here sleeps."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from kindly.clock import Monotonic

Key = TypeVar("Key", bound=Hashable)

MAX_KEYS = 512


class Cooldowns(Generic[Key]):
    """A cool-down per key. Beyond `max_keys`, the one that was started first is forgotten."""

    def __init__(self, monotonic: Monotonic, max_keys: int = MAX_KEYS) -> None:
        self._monotonic = monotonic
        self._max_keys = max_keys
        self._until: dict[Key, float] = {}

    def __len__(self) -> int:
        return len(self._until)

    def start(self, key: Key, seconds: float) -> None:
        """Begin a cool-down, or extend the current one; it is never shortened."""
        until = max(self._monotonic() + seconds, self._until.pop(key, 0.0))
        self._until[key] = until
        if len(self._until) > self._max_keys:
            del self._until[next(iter(self._until))]

    def remaining_s(self, key: Key) -> float:
        """Seconds until the key may be used; zero if it may be used now."""
        until = self._until.get(key)
        if until is None:
            return 0.0
        remaining_s = until - self._monotonic()
        if remaining_s > 0:
            return remaining_s
        del self._until[key]
        return 0.0

    def is_active(self, key: Key) -> bool:
        return self.remaining_s(key) > 0


class Cooldown:
    """One cool-down."""

    def __init__(self, monotonic: Monotonic) -> None:
        self._cooldowns: Cooldowns[None] = Cooldowns(monotonic)

    def start(self, seconds: float) -> None:
        """Begin the cool-down, or extend it; it is never shortened."""
        self._cooldowns.start(None, seconds)

    @property
    def remaining_s(self) -> float:
        """Seconds until the thing may be used; zero if it may be used now."""
        return self._cooldowns.remaining_s(None)

    @property
    def is_active(self) -> bool:
        return self._cooldowns.is_active(None)
