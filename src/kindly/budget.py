"""The budget of a call: a deadline in seconds and an answer size in tokens, both passed down by the caller."""

from collections.abc import Callable
from typing import Self, TypeVar

import anyio

from kindly.clock import Monotonic
from kindly.frozen import frozen

T = TypeVar("T")

FIT_STEPS = 8


@frozen
class Deadline:
    """The moment by which a call must finish."""

    at: float
    clock: Monotonic = anyio.current_time

    @classmethod
    def after(cls, seconds: float, clock: Monotonic = anyio.current_time) -> Self:
        return cls(clock() + seconds, clock)

    def remaining_s(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.at - self.clock())

    def minus(self, seconds: float) -> "Deadline":
        """The moment `seconds` before this deadline."""
        return Deadline(self.at - seconds, self.clock)

    def within(self, seconds: float) -> "Deadline":
        """The earlier of this deadline and `seconds` from now."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)


def elapsed_ms(began: float) -> int:
    """Milliseconds since `began`, a time of the event loop's clock."""
    return round((anyio.current_time() - began) * 1000)


def count_tokens(text: str) -> int:
    """An estimate of a text's tokens: a quarter of its UTF-8 bytes, rounded up.

    For English it is close to what tokenizers count. Scripts with several bytes per character count more per character,
    as they do in tokenizers.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def fair_shares(demands: list[int], available: int) -> list[int]:
    """Max-min fair split of `available`: no share exceeds its demand, and small demands are met in full."""
    shares = [0] * len(demands)
    open_indexes = sorted(range(len(demands)), key=lambda index: demands[index])
    left = max(0, available)
    while open_indexes:
        index = open_indexes.pop(0)
        share = min(demands[index], left // (len(open_indexes) + 1))
        shares[index] = share
        left -= share
    return shares


def fit(build: Callable[[int], T], size: Callable[[T], int], limit: int) -> T:
    """About the largest `build(tokens)` with a `size` within `limit`, by interpolation search; `build(0)` if none fits.

    `size` grows with `tokens`, but not by the same amount: the result has a frame, its text is escaped, and the first
    token may bring an outline with it. So each step that comes out too large halves the next one.
    """
    whole = build(limit)
    above, high = size(whole), limit
    if above <= limit:
        return whole
    best, best_tokens = build(0), 0
    below, too_large = size(best), 0
    for _ in range(FIT_STEPS):
        if limit - below <= limit // 50:
            break
        step = (high - best_tokens) * (limit - below) // (above - below)
        tokens = best_tokens + (step >> too_large)
        if tokens <= best_tokens:
            break
        built = build(tokens)
        measured = size(built)
        if measured <= limit:
            best, best_tokens, below, too_large = built, tokens, measured, 0
        else:
            high, above, too_large = tokens, measured, too_large + 1
    return best
