"""Several providers asked at once: what each found, without waiting for the slow once one has answered.

Who fails is replaced by the next in line. What is made of the answers is not decided here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio
import anyio.abc

from kindly.errors import SearchError
from kindly.models import ProviderResults
from kindly.search.attempt import SearchAttempt
from kindly.search.managed_provider import ManagedProvider

MIN_GRACE_S = 0.5
"""What the others get at least once one has answered; else as long as that one took."""


@dataclass(slots=True)
class Race:
    """Providers under way."""

    round: SearchAttempt
    waiting: list[ManagedProvider]
    """Those who step in, in their order."""
    clock: Callable[[], float]
    answers: dict[str, ProviderResults] = field(default_factory=dict)
    failures: dict[str, SearchError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def late(self) -> list[str]:
        """Who was asked and told nothing in time."""
        return [name for name in self.asked if name not in self.answers | self.failures]

    async def run(self, width: int) -> None:
        """Ask `width` at once, and end when all have told, or when the grace period is over."""
        began = self.clock()
        async with anyio.create_task_group() as tasks:
            for _ in range(width):
                self._start_next(tasks, began)

    def _start_next(self, tasks: anyio.abc.TaskGroup, began: float) -> None:
        while self.waiting:
            lane = self.waiting.pop(0)
            if lane.breaker.enter():
                self.asked.append(lane.name)
                tasks.start_soon(self._ask, lane, tasks, began)
                return
            self.round.resting[lane.name] = lane.breaker.failures

    async def _ask(self, lane: ManagedProvider, tasks: anyio.abc.TaskGroup, began: float) -> None:
        try:
            found = await lane.ask(self.round.query, self.round.share(len(self.waiting) + 1))
        except SearchError as error:
            self.failures[lane.name] = error
            if error.try_next:
                self._start_next(tasks, began)
            return
        if not self.answers:
            grace_s = max(MIN_GRACE_S, self.clock() - began)
            tasks.cancel_scope.deadline = anyio.current_time() + grace_s
        self.answers[lane.name] = found


async def ask_several(
    round_: SearchAttempt, lanes: Sequence[ManagedProvider], width: int, clock: Callable[[], float]
) -> Race:
    """Ask the first `width` of `lanes` at once, the others in place of those that fail."""
    race = Race(round_, list(lanes), clock)
    await race.run(width)
    return race
