"""Cool-downs under a clock that the test moves."""

import math

import pytest

from kindly.concurrency.cooldown import Cooldown, Cooldowns
from tests.support.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_a_cooldown_ends_when_its_time_is_over(clock: FakeClock) -> None:
    cooldown = Cooldown(clock)
    assert (cooldown.is_active, cooldown.remaining_s) == (False, 0.0)
    cooldown.start(30)
    clock.advance(29)
    assert (cooldown.is_active, cooldown.remaining_s) == (True, 1.0)
    clock.advance(1)
    assert (cooldown.is_active, cooldown.remaining_s) == (False, 0.0)


def test_a_cooldown_is_extended_and_never_shortened(clock: FakeClock) -> None:
    cooldown = Cooldown(clock)
    cooldown.start(10)
    cooldown.start(5)
    assert cooldown.remaining_s == 10
    cooldown.start(20)
    assert cooldown.remaining_s == 20


def test_a_cooldown_of_zero_seconds_is_none(clock: FakeClock) -> None:
    cooldown = Cooldown(clock)
    cooldown.start(0)
    assert not cooldown.is_active


def test_a_cooldown_may_last_for_good(clock: FakeClock) -> None:
    cooldown = Cooldown(clock)
    cooldown.start(math.inf)
    clock.advance(1e9)
    assert cooldown.is_active


def test_keys_cool_down_independently(clock: FakeClock) -> None:
    cooldowns: Cooldowns[str] = Cooldowns(clock)
    cooldowns.start("a", 10)
    assert (cooldowns.is_active("a"), cooldowns.is_active("b")) == (True, False)


def test_expired_keys_are_forgotten(clock: FakeClock) -> None:
    cooldowns: Cooldowns[str] = Cooldowns(clock)
    cooldowns.start("a", 10)
    clock.advance(10)
    assert cooldowns.remaining_s("a") == 0.0
    assert len(cooldowns) == 0


def test_the_key_that_was_started_first_is_forgotten_first(clock: FakeClock) -> None:
    cooldowns: Cooldowns[str] = Cooldowns(clock, max_keys=2)
    for key in ("a", "b", "a", "c"):
        cooldowns.start(key, 10)
    assert [cooldowns.is_active(key) for key in ("a", "b", "c")] == [True, False, True]
