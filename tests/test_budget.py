"""Deadlines and token budgets."""

import pytest

from kindly.budget import Deadline, count_tokens, fair_shares, fit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_deadline_counts_down_and_never_below_zero() -> None:
    clock = Clock()
    deadline = Deadline.after(10, clock)
    clock.now += 4
    assert deadline.remaining_s() == 6
    clock.now += 60
    assert deadline.remaining_s() == 0


def test_the_deadline_of_a_step_never_exceeds_the_calls() -> None:
    clock = Clock()
    deadline = Deadline.after(10, clock)
    assert deadline.within(3).remaining_s() == 3
    assert deadline.within(30).remaining_s() == 10


def test_a_deadline_can_be_moved_forward() -> None:
    clock = Clock()
    assert Deadline.after(10, clock).minus(4).remaining_s() == 6
    assert Deadline.after(1, clock).minus(4).remaining_s() == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本語", 3), ("\ud800", 1)],
    ids=["empty", "one", "four", "five", "three-byte characters", "lone surrogate"],
)
def test_tokens_are_a_quarter_of_the_bytes(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@pytest.mark.parametrize(
    ("demands", "available", "shares"),
    [
        ([10, 20], 100, [10, 20]),
        ([100, 100], 100, [50, 50]),
        ([10, 100, 100], 110, [10, 50, 50]),
        ([100, 10, 100], 110, [50, 10, 50]),
        ([5, 5], 0, [0, 0]),
        ([5, 5], -3, [0, 0]),
        ([], 10, []),
    ],
    ids=[
        "all fits",
        "halves",
        "small one whole",
        "order kept",
        "nothing left",
        "negative",
        "no demands",
    ],
)
def test_shares_are_fair(demands: list[int], available: int, shares: list[int]) -> None:
    assert fair_shares(demands, available) == shares


def test_fit_takes_the_whole_limit_without_a_frame() -> None:
    assert fit(lambda tokens: "x" * tokens, len, 50) == "x" * 50


def test_fit_leaves_space_for_a_frame_and_escaping() -> None:
    built = fit(lambda tokens: "<frame>" + '\\"' * tokens, len, 100)
    assert 90 <= len(built) <= 100


def test_fit_returns_the_smallest_result_if_nothing_fits() -> None:
    assert fit(lambda tokens: "frame" * 10 + "x" * tokens, len, 20) == "frame" * 10


def test_fit_fills_the_limit_where_the_first_token_brings_an_outline() -> None:
    built = fit(
        lambda tokens: "<frame>" + ("outline " * 50 if tokens else "") + "x" * tokens, len, 600
    )
    assert 580 <= len(built) <= 600
