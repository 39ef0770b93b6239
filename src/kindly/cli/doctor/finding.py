"""What `doctor` found out about one thing, and how checks are run beside each other within their time."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from kindly.settings import Settings

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at."""

    check: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Something to look at, and for how long."""

    name: str
    look: Callable[[Settings], Awaitable[list[CheckResult]]]
    limit_s: float = 20.0


async def looked_at(checks: Sequence[Check], settings: Settings) -> list[CheckResult]:
    """What all of them found, in their order; one that takes too long is a problem of its own."""
    found: dict[int, list[CheckResult]] = {}

    async def run(number: int, check: Check) -> None:
        with anyio.move_on_after(check.limit_s):
            found[number] = await check.look(settings)
        if number not in found:
            late = f"no answer within {check.limit_s:.0f} s"
            found[number] = [
                CheckResult(check.name, "problem", late, "Try again, or look at its log.")
            ]

    async with anyio.create_task_group() as tasks:
        for number, check in enumerate(checks):
            tasks.start_soon(run, number, check)
    return [finding for number in range(len(checks)) for finding in found[number]]
