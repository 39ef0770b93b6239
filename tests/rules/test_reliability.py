"""Every promise of docs/reliability.md names a test that is there."""

import ast
import re

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| What goes wrong")
]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_there_are_promises() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[2].strip()[:40])
def test_a_promise_names_a_test_that_is_there(row: str) -> None:
    held_by = row.split("|")[3]
    found = NAMED.findall(held_by)
    assert found
    for file, name in found:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        names = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert name in names
