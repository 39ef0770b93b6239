"""The circuit breaker, under a clock that the test moves."""

import pytest

from kindly.search.circuit_breaker import BreakerHealth, CircuitBreaker, Closed, Open, Trying
from tests.support.fakes import FakeClock


def opened(clock: FakeClock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock)
    for _ in range(3):
        breaker.failed()
    return breaker


def test_a_new_breaker_is_closed() -> None:
    breaker = CircuitBreaker(FakeClock())
    assert (breaker.health, breaker.allows_call, breaker.open_s) == (BreakerHealth.CLOSED, True, 0)
    assert breaker.enter()


def test_the_third_failure_in_a_row_opens_the_breaker_for_thirty_seconds() -> None:
    clock = FakeClock()
    breaker = CircuitBreaker(clock)
    breaker.failed()
    breaker.failed()
    assert (breaker.health, breaker.failures) == (BreakerHealth.CLOSED, 2)
    breaker.failed()
    assert breaker.state == Open(until=clock.now + 30, failures=3)
    assert (breaker.health, breaker.open_s) == (BreakerHealth.OPEN, 30)
    assert not breaker.enter()


def test_a_success_resets_the_count() -> None:
    breaker = CircuitBreaker(FakeClock())
    for _ in range(5):
        breaker.failed()
        breaker.failed()
        breaker.succeeded()
    assert breaker.state == Closed()


def test_a_half_open_breaker_allows_one_trial_call_at_a_time() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(29.9)
    assert not breaker.allows_call
    clock.advance(0.1)
    assert (breaker.health, breaker.open_s) == (BreakerHealth.HALF_OPEN, 0)
    assert breaker.enter()
    assert breaker.state == Trying(3)
    assert breaker.health is BreakerHealth.HALF_OPEN
    assert not breaker.enter()


def test_a_successful_trial_closes_the_breaker() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    breaker.succeeded()
    assert breaker.state == Closed()


def test_a_failed_trial_opens_the_breaker_again() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    breaker.failed()
    assert breaker.state == Open(until=clock.now + 30, failures=4)


def test_after_an_abandoned_trial_the_next_one_is_due_at_once() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    breaker.abandoned()
    assert breaker.enter()


def test_an_abandoned_call_does_not_change_a_closed_breaker() -> None:
    breaker = CircuitBreaker(FakeClock())
    breaker.failed()
    breaker.abandoned()
    assert breaker.state == Closed(1)


def test_late_failures_do_not_extend_the_open_time() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(10)
    breaker.failed()
    assert breaker.open_s == 20


def test_a_forced_call_is_an_early_trial() -> None:
    breaker = opened(FakeClock())
    assert breaker.enter(force=True)
    assert breaker.state == Trying(3)


@pytest.mark.parametrize(
    ("failures", "open_s", "health"),
    [
        (0, 0, BreakerHealth.CLOSED),
        (2, 0, BreakerHealth.CLOSED),
        (3, 12, BreakerHealth.OPEN),
        (5, 0, BreakerHealth.HALF_OPEN),
    ],
)
def test_a_saved_state_is_restored(failures: int, open_s: float, health: BreakerHealth) -> None:
    breaker = CircuitBreaker(FakeClock())
    breaker.restore(failures, open_s)
    assert (breaker.health, breaker.failures, breaker.open_s) == (health, failures, open_s)


def test_a_restored_open_time_is_bounded() -> None:
    breaker = CircuitBreaker(FakeClock())
    breaker.restore(3, 10_000)
    assert breaker.open_s == 30
