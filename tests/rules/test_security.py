"""Every promise of SECURITY.md names tests that exist."""

import re

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf-8")
PROMISES = [
    line.strip("| ").split(" | ")
    for line in PAGE.partition("## Promises")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and "| tests |" not in line
]


def test_there_are_promises() -> None:
    assert len(PROMISES) >= 10


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[0][:40])
def test_a_promise_is_tests_tests(promise: list[str]) -> None:
    _, tests = promise
    files = re.findall(r"`(tests/\S+\.py)`", tests)
    assert files
    assert [file for file in files if not (ROOT / file).is_file()] == []
