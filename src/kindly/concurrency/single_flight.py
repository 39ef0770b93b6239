"""Two calls for the same thing share one piece of work."""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

from kindly.errors import KindlyError

Value = TypeVar("Value")


@dataclass(slots=True)
class _Flight(Generic[Value]):
    landed: anyio.Event = field(default_factory=anyio.Event)
    values: list[Value] = field(default_factory=list)
    error: KindlyError | None = None


class SingleFlight(Generic[Value]):
    """Runs work once per key at a time; who comes while it runs waits for its outcome.

    The work runs in its first caller's task, so his cancellation stops it at once; then one of
    those who wait starts it anew.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[Value]] = {}

    async def __call__(self, key: Hashable, work: Callable[[], Awaitable[Value]]) -> Value:
        """What the work for `key` brings; raises the `KindlyError` that it raised."""
        while (flight := self._flights.get(key)) is not None:
            await flight.landed.wait()
            if flight.error is not None:
                raise flight.error
            if flight.values:
                return flight.values[0]
        flight = self._flights[key] = _Flight()
        try:
            value = await work()
            flight.values.append(value)
        except KindlyError as error:
            flight.error = error
            raise
        else:
            return value
        finally:
            del self._flights[key]
            flight.landed.set()
