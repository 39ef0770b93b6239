"""The breaker, over a clock that moves only when told to."""

import pytest

from kindly.search.circuit_breaker import BreakerHealth, CircuitBreaker, Closed, Open, Trying
from tests.support.fakes import FakeClock


def opened(clock: FakeClock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock)
    for _ in range(3):
        breaker.failed()
    return breaker


def test_new_one_is_closed_and_allows_call() -> None:
    breaker = CircuitBreaker(FakeClock())
    assert (breaker.health, breaker.allows_call, breaker.open_s) == (BreakerHealth.CLOSED, True, 0)
    assert breaker.enter()


def test_third_failure_in_a_row_opens_it_for_thirty_seconds() -> None:
    clock = FakeClock()
    breaker = CircuitBreaker(clock)
    breaker.failed()
    breaker.failed()
    assert (breaker.health, breaker.failures) == (BreakerHealth.CLOSED, 2)
    breaker.failed()
    assert breaker.state == Open(until=clock.now + 30, failures=3)
    assert (breaker.health, breaker.open_s) == (BreakerHealth.OPEN, 30)
    assert not breaker.enter()


def test_success_in_between_starts_the_count_anew() -> None:
    breaker = CircuitBreaker(FakeClock())
    for _ in range(5):
        breaker.failed()
        breaker.failed()
        breaker.succeeded()
    assert breaker.state == Closed()


def test_after_the_rest_one_trial_at_a_time_is_let_through() -> None:
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


def test_successful_trial_closes_it() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    breaker.succeeded()
    assert breaker.state == Closed()


def test_failed_trial_opens_it_again() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    breaker.failed()
    assert breaker.state == Open(until=clock.now + 30, failures=4)


def test_abandoned_trial_leaves_the_next_one_due_at_once() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    breaker.abandoned()
    assert breaker.enter()


def test_abandoned_call_says_nothing_about_a_closed_one() -> None:
    breaker = CircuitBreaker(FakeClock())
    breaker.failed()
    breaker.abandoned()
    assert breaker.state == Closed(1)


def test_stragglers_do_not_lengthen_the_rest() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.advance(10)
    breaker.failed()
    assert breaker.open_s == 20


def test_forced_call_is_a_trial_before_its_time() -> None:
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
def test_earlier_state_is_taken_up(failures: int, open_s: float, health: BreakerHealth) -> None:
    breaker = CircuitBreaker(FakeClock())
    breaker.restore(failures, open_s)
    assert (breaker.health, breaker.failures, breaker.open_s) == (health, failures, open_s)


def test_rest_taken_up_is_never_longer_than_a_whole_one() -> None:
    breaker = CircuitBreaker(FakeClock())
    breaker.restore(3, 10_000)
    assert breaker.open_s == 30
