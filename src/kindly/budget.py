"""What a call may spend: a deadline in seconds and an answer size in tokens, both passed down from the top."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeVar

import anyio

T = TypeVar("T")

FIT_STEPS = 8

Clock = Callable[[], float]
"""Seconds that only ever go up; the event loop's clock unless a test passes another."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment by which a call must have answered."""

    at: float
    clock: Clock = anyio.current_time

    @classmethod
    def after(cls, seconds: float, clock: Clock = anyio.current_time) -> Self:
        """The deadline `seconds` from now."""
        return cls(clock() + seconds, clock)

    def remaining_s(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.at - self.clock())

    def minus(self, seconds: float) -> "Deadline":
        """The moment `seconds` before this deadline."""
        return Deadline(self.at - seconds, self.clock)

    def within(self, seconds: float) -> "Deadline":
        """This deadline, or the one `seconds` from now if that comes first."""
        return Deadline(min(self.at, self.clock() + seconds), self.clock)


def elapsed_ms(began: float) -> int:
    """Milliseconds since `began`, a time of the event loop's clock."""
    return round((anyio.current_time() - began) * 1000)


def count_tokens(text: str) -> int:
    """Tokens of a text as we budget them: a quarter of its UTF-8 bytes, rounded up.

    English comes out near what tokenizers say; scripts with several bytes a character are counted dearer than
    characters / 4 would, as tokenizers do too.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def fair_shares(wanted: list[int], available: int) -> list[int]:
    """Split `available` over wants so that nobody gets more than he wants and the small ones are served whole."""
    shares = [0] * len(wanted)
    open_indexes = sorted(range(len(wanted)), key=lambda index: wanted[index])
    left = max(0, available)
    while open_indexes:
        index = open_indexes.pop(0)
        share = min(wanted[index], left // (len(open_indexes) + 1))
        shares[index] = share
        left -= share
    return shares


def fit(build: Callable[[int], T], size: Callable[[T], int], limit: int) -> T:
    """Nearly the largest of `build(tokens)` whose `size` is within `limit`; `build(0)` if none is.

    `size` grows with `tokens`, but not in step with it: what is built has a frame, and text is quoted in it. So the
    number of tokens is closed in on from both sides.
    """
    whole = build(limit)
    above, high = size(whole), limit
    if above <= limit:
        return whole
    best, best_tokens = build(0), 0
    below = size(best)
    for _ in range(FIT_STEPS):
        if limit - below <= limit // 50:
            break
        tokens = best_tokens + (high - best_tokens) * (limit - below) // (above - below)
        if tokens <= best_tokens:
            break
        built = build(tokens)
        measured = size(built)
        if measured <= limit:
            best, best_tokens, below = built, tokens, measured
        else:
            high, above = tokens, measured
    return best
