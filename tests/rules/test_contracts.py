"""`docs/contracts.md` names, for every promise, a test that exists or the reason why there is none."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from kindly.server.profiles import all_profiles
from tests.support.paths import ROOT, TESTS

PAGE = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
REASONS = ("not tested: ", "not offered: ", "measured by ")


@dataclass(frozen=True)
class Row:
    """One promise."""

    section: str
    promise: str
    proof: str
    note: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return NAMED.findall(self.proof)


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows() -> Iterator[Row]:
    for section, text in sections().items():
        for line in text.splitlines():
            if line.startswith("| ") and not line.startswith("| promise |"):
                promise, proof, note = (cell.strip() for cell in line[1:-1].split(" | "))
                yield Row(section, promise, proof, note)


@cache
def defined_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def test_every_profile_has_a_section() -> None:
    assert all(
        any(f"`{profile.name}`" in title for title in sections()) for profile in all_profiles()[1:]
    )
    assert "Default profile" in next(iter(sections()))


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: f"{row.section}: {row.promise}"[:80])
def test_every_promise_has_a_test_or_a_reason(row: Row) -> None:
    assert row.promise
    assert row.tests or row.note.startswith(REASONS)
    missing = [
        f"{file}::{name}"
        for file, name in row.tests
        if not (TESTS / file).is_file() or name not in defined_in(file)
    ]
    assert missing == []
