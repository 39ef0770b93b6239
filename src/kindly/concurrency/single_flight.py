"""Single flight: concurrent calls with the same key share one run of the work."""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio

from kindly.errors import KindlyError

Value = TypeVar("Value")


@dataclass(slots=True)
class _Flight(Generic[Value]):
    done: anyio.Event = field(default_factory=anyio.Event)
    values: list[Value] = field(default_factory=list)
    error: KindlyError | None = None


class SingleFlight(Generic[Value]):
    """Runs work once per key at a time; callers that come meanwhile wait for its result.

    The work runs in the task of its first caller, so that cancelling that caller stops it immediately. Then one of the
    waiting callers starts it again.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[Value]] = {}

    async def __call__(self, key: Hashable, work: Callable[[], Awaitable[Value]]) -> Value:
        """The result of the work for `key`; raises the `KindlyError` that it raised."""
        while (flight := self._flights.get(key)) is not None:
            await flight.done.wait()
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
            flight.done.set()
