"""Routers over fake providers, and an event loop with virtual time."""

import asyncio
import selectors
from dataclasses import dataclass, field

import anyio

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.models import Hit, ProviderResults, Query
from kindly.redact import Redactor
from kindly.search.attempt import SetupHints
from kindly.search.provider import Pace, SearchProvider
from kindly.search.provider_pacing import Pacer
from kindly.search.rate_limits import RateLimits
from kindly.search.router import ProviderEntry, Router, RouterSettings, build_router
from tests.support.fakes import FakeSleep
from tests.support.memory_state import MemoryState

KEY_SETTINGS = ("SERPER_API_KEY", "TAVILY_API_KEY")
KEYLESS = ("KINDLY_KEYLESS=1", "KINDLY_SEARXNG_POOL=1", "SEARXNG_BASE_URL")
HINTS = SetupHints(KEY_SETTINGS, KEYLESS)
FAST = Pace(1000, 1)


class _JumpingSelector(selectors.DefaultSelector):
    """Does not wait, but counts how long it would have waited."""

    slept_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        self.slept_s += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock that jumps to the next timer: hours pass at once."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return 1_000_000.0 + self._jumping.slept_s


VIRTUAL: tuple[str, dict[str, object]] = ("asyncio", {"loop_factory": VirtualLoop})
"""For a module's `anyio_backend`."""


@dataclass
class SlowProvider:
    """A provider with a delay before each of its outcomes; the last pair repeats."""

    name: str
    script: list[tuple[float, tuple[Hit, ...] | Exception]]
    called_at: list[float] = field(default_factory=list)
    cancelled: int = 0

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        self.called_at.append(anyio.current_time())
        delay_s, outcome = self.script[min(len(self.called_at), len(self.script)) - 1]
        try:
            await anyio.sleep(delay_s)
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        if isinstance(outcome, Exception):
            raise outcome
        return ProviderResults(outcome)


def entry(
    provider: SearchProvider,
    *,
    pace: Pace = FAST,
    limits: RateLimits | None = None,
    scraped: bool = False,
    clock: Clock | None = None,
) -> ProviderEntry:
    clock = clock or virtual_clock()
    pacer = Pacer(
        provider.name, provider.name.title(), pace, limits or RateLimits(clock), clock.sleep
    )
    return ProviderEntry(provider, pacer, scraped)


def routed(
    *providers: SearchProvider,
    sleep: FakeSleep | None = None,
    parallel: int = 1,
    scraped: tuple[str, ...] = (),
) -> Router:
    """A router without a cache, whose pauses take no time."""
    pause = sleep or FakeSleep()
    clock = Clock(time=pause.clock, monotonic=pause.clock, sleep=pause, random=lambda: 0.5)
    return build_router(
        [entry(each, scraped=each.name in scraped, clock=clock) for each in providers],
        clock=clock,
        state=MemoryState(),
        hints=HINTS,
        redactor=Redactor.of(()),
        settings=RouterSettings(parallel=parallel, cache_ttl_s=0),
    )


def virtual_clock() -> Clock:
    """The clock of the running loop."""
    return Clock(time=anyio.current_time, random=lambda: 0.5)


def hits_at(*hosts: str, provider: str = "fake") -> tuple[Hit, ...]:
    """Hits that have nothing in common."""
    return tuple(
        Hit(f"Title of {host}", f"https://{host}/", f"Snippet of {host}.", provider)
        for host in hosts
    )
