"""Every promise of docs/reliability.md names a test that exists."""

import ast
import re

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = [
    line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| fault |")
]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_there_are_promises() -> None:
    assert len(ROWS) >= 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[2].strip()[:40])
def test_a_promise_names_a_test_that_exists(row: str) -> None:
    proof = row.split("|")[3]
    found = NAMED.findall(proof)
    assert found
    for file, name in found:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        names = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert name in names
