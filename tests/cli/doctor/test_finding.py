"""Checks run concurrently, each within its time limit."""

import anyio
import pytest

from kindly.cli.doctor.finding import Check, CheckResult, run_checks
from kindly.settings import Settings

pytestmark = pytest.mark.anyio


async def never(_: Settings) -> list[CheckResult]:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


async def twice(_: Settings) -> list[CheckResult]:
    return [CheckResult("a", "ok", "one"), CheckResult("a", "note", "two")]


async def test_results_keep_the_order_of_the_checks_and_a_late_check_is_a_problem() -> None:
    with anyio.fail_after(120):
        found = await run_checks([Check("slow", never, 0.01), Check("a", twice)], Settings.load({}))
    assert [(finding.check, finding.state) for finding in found] == [
        ("slow", "problem"),
        ("a", "ok"),
        ("a", "note"),
    ]
