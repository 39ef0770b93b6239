"""Checks run beside each other, and none can hold up the rest."""

import anyio
import pytest

from kindly.cli.doctor.finding import Check, CheckResult, looked_at
from kindly.settings import Settings

pytestmark = pytest.mark.anyio


async def never(_: Settings) -> list[CheckResult]:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


async def twice(_: Settings) -> list[CheckResult]:
    return [CheckResult("a", "ok", "one"), CheckResult("a", "note", "two")]


async def test_findings_come_in_the_order_of_the_checks_and_a_late_one_is_a_problem() -> None:
    with anyio.fail_after(60):
        found = await looked_at([Check("slow", never, 0.01), Check("a", twice)], Settings.load({}))
    assert [(finding.check, finding.state) for finding in found] == [
        ("slow", "problem"),
        ("a", "ok"),
        ("a", "note"),
    ]
