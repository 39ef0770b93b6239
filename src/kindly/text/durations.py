"""Durations in words, for messages: "1 second", "5 seconds"."""

import math


def seconds(duration_s: float) -> str:
    """A waiting time in whole seconds, rounded up, at least one."""
    count = max(1, math.ceil(duration_s))
    return "1 second" if count == 1 else f"{count} seconds"
