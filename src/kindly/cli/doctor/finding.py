"""`doctor`: the result of a check, and running checks concurrently, each with a time limit."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import anyio

from kindly.frozen import frozen
from kindly.settings import Settings

State = Literal["ok", "note", "problem"]


@frozen
class CheckResult:
    """One line of the report."""

    check: str
    state: State
    detail: str
    fix: str = ""


@frozen
class Check:
    """A check and its time limit."""

    name: str
    run: Callable[[Settings], Awaitable[list[CheckResult]]]
    limit_s: float = 20.0


async def run_checks(checks: Sequence[Check], settings: Settings) -> list[CheckResult]:
    """Run all checks concurrently; their results in the order of `checks`. A check that takes too long is a problem."""
    found: dict[int, list[CheckResult]] = {}

    async def run(number: int, check: Check) -> None:
        with anyio.move_on_after(check.limit_s):
            found[number] = await check.run(settings)
        if number not in found:
            late = f"no result within {check.limit_s:.0f} s"
            found[number] = [
                CheckResult(
                    check.name, "problem", late, "Try again, or look at the log of the service."
                )
            ]

    async with anyio.create_task_group() as tasks:
        for number, check in enumerate(checks):
            tasks.start_soon(run, number, check)
    return [finding for number in range(len(checks)) for finding in found[number]]
