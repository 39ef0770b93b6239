"""Several providers called concurrently: after the first answer, slow ones get only a grace period.

A provider that fails is replaced by the next in order. The router decides what to make of the answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import anyio.abc

from kindly.clock import Monotonic
from kindly.errors import SearchError
from kindly.models import ProviderResults
from kindly.search.attempt import SearchAttempt
from kindly.search.managed_provider import ManagedProvider

MIN_GRACE_S = 0.5
"""After the first answer the others get as much time again as it took, but at least this."""


@dataclass(slots=True)
class ParallelSearch:
    """Providers that are being called."""

    attempt: SearchAttempt
    waiting: list[ManagedProvider]
    """Replacements, in order."""
    monotonic: Monotonic
    answers: dict[str, ProviderResults] = field(default_factory=dict)
    failures: dict[str, SearchError] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)

    @property
    def late(self) -> list[str]:
        """Providers that neither answered nor failed in time."""
        return [name for name in self.called if name not in self.answers | self.failures]

    async def run(self, width: int) -> None:
        """Call `width` providers concurrently; ends when all have answered, or after the grace period."""
        began = self.monotonic()
        async with anyio.create_task_group() as tasks:
            for _ in range(width):
                self._start_next(tasks, began)

    def _start_next(self, tasks: anyio.abc.TaskGroup, began: float) -> None:
        while self.waiting:
            provider = self.waiting.pop(0)
            if provider.breaker.enter():
                self.called.append(provider.name)
                tasks.start_soon(self._call, provider, tasks, began)
                return
            self.attempt.skipped[provider.name] = provider.breaker.failures

    async def _call(
        self, provider: ManagedProvider, tasks: anyio.abc.TaskGroup, began: float
    ) -> None:
        deadline = self.attempt.share(len(self.waiting) + 1)
        try:
            found = await provider.search(self.attempt.query, deadline)
        except SearchError as error:
            self.failures[provider.name] = error
            if error.try_next:
                self._start_next(tasks, began)
            return
        if not self.answers:
            grace_s = max(MIN_GRACE_S, self.monotonic() - began)
            tasks.cancel_scope.deadline = anyio.current_time() + grace_s
        self.answers[provider.name] = found


async def search_in_parallel(
    attempt: SearchAttempt,
    providers: Sequence[ManagedProvider],
    width: int,
    monotonic: Monotonic,
) -> ParallelSearch:
    """Call the first `width` providers concurrently, the others in place of those that fail."""
    search = ParallelSearch(attempt, list(providers), monotonic)
    await search.run(width)
    return search
