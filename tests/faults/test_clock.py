"""A clock that is set forwards or backwards: nothing is cached forever, and no provider is excluded for that long."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.fetch.fetcher import Seams, open_fetcher
from kindly.fetch.guard.guard import GuardPolicy
from kindly.search.provider_stats import SAVE_EVERY_S, BreakerState, ProviderStats
from kindly.search.rate_limits import RateLimits
from kindly.urls import parse
from tests.support.fakes import FakeClock
from tests.support.library_world import NOW, URL, LibraryWorld, document, page
from tests.support.memory_state import MemoryState
from tests.support.site import Site

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0


@dataclass
class Wall:
    """A wall clock that is set by hand."""

    now: datetime = datetime(2026, 1, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.mark.parametrize("days", [2, -2, -3000], ids=["forwards", "backwards", "to the past"])
async def test_a_kept_page_is_asked_for_again_once_and_then_kept_by_the_new_time(
    site: Site, tmp_path: Path, days: int
) -> None:
    wall = Wall()
    policy = GuardPolicy(allow_private=(site.host,))
    seams = Seams(clock=Clock(time=lambda: wall().timestamp()))
    url = parse(site.url("/article"))
    async with open_fetcher(
        policy=policy, cache_path=str(tmp_path / "pages.sqlite"), seams=seams
    ) as fetcher:

        async def how() -> str:
            with anyio.fail_after(120):
                return str((await fetcher.fetch(url, Deadline.after(60))).how)

        assert [await how(), await how()] == ["http", "cache"]
        wall.now += timedelta(days=days)
        assert [await how(), await how()] == ["http", "cache"]


@pytest.mark.parametrize("days", [2, -2], ids=["forwards", "backwards"])
async def test_a_page_of_the_library_is_fresh_no_longer_than_it_should(days: int) -> None:
    world = LibraryWorld()
    await world.library().keep(URL, document(), page())
    assert await world.library().fresh(URL) is not None
    world.now = NOW + timedelta(days=days)
    assert await world.library().fresh(URL) is None


@pytest.mark.parametrize("jump_s", [DAY_S, -DAY_S, 0.0], ids=["forwards", "backwards", "none"])
def test_a_providers_pause_lasts_as_long_as_it_asked_for(jump_s: float) -> None:
    wall, clock = FakeClock(1e9), FakeClock()
    limits = RateLimits(Clock(time=wall, monotonic=clock))
    limits.learn({"Retry-After": "60"})
    wall.advance(jump_s)
    clock.advance(10)
    assert limits.pause_s == 50
    clock.advance(50)
    assert limits.pause_s == 0


async def loaded_stats(state: MemoryState, now: Callable[[], float]) -> ProviderStats:
    stats = ProviderStats(("serper",), state, now)
    await stats.load()
    return stats


async def test_what_was_learned_of_a_provider_in_the_future_does_not_rule_the_present() -> None:
    state, clock = MemoryState(), FakeClock(1e9)
    ahead = await loaded_stats(state, clock)
    ahead.failed("serper", "timeout", BreakerState(clock.now, 3, clock.now + 30))
    await ahead.save()
    clock.advance(-DAY_S)
    stats = await loaded_stats(state, clock)
    assert stats.breaker("serper") == BreakerState()
    stats.answered("serper", 0.1, BreakerState(clock.now))
    assert stats.breaker("serper") == BreakerState(clock.now)
    assert [status.calls for status in stats.snapshot()] == [2]


@pytest.mark.parametrize("jump_s", [DAY_S, -DAY_S], ids=["forwards", "backwards"])
async def test_the_books_are_saved_after_a_jump(jump_s: float) -> None:
    state, clock = MemoryState(), FakeClock(1e9)
    stats = await loaded_stats(state, clock)
    stats.answered("serper", 0.1, BreakerState(clock.now))
    clock.advance(SAVE_EVERY_S / 2)
    await stats.save_if_due()
    assert not state.kinds
    clock.advance(jump_s)
    await stats.save_if_due()
    assert state.kinds["provider_stats"]["serper"]["calls"] == 1
