"""`docs/contracts.md` names, for every requirement, a test that exists or a reason why there is none."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "contracts.md").read_text(encoding="utf-8")
SPECIFICATIONS = ("000", "001", "002", "003", "004")
TO_BE_FILLED = "*To be filled in.*"
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
LINES = re.compile(r"\d+(?:–\d+)?(?:, \d+(?:–\d+)?)*")
REASON = "reason: "


@dataclass(frozen=True)
class Row:
    """One requirement."""

    specification: str
    line: str
    requirement: str
    where: str
    held_by: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return NAMED.findall(self.held_by)


def sections() -> dict[str, str]:
    parts = re.split(r"^## Specification (\d{3}).*$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows() -> Iterator[Row]:
    for specification, text in sections().items():
        for line in text.splitlines():
            if line.startswith("| ") and not line.startswith("| line |"):
                cells = [cell.strip() for cell in line.strip("|").split(" | ")]
                yield Row(specification, *cells)


@cache
def defined_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def test_every_specification_has_its_section() -> None:
    assert tuple(sections()) == SPECIFICATIONS
    for text in sections().values():
        assert "| line |" in text or TO_BE_FILLED in text


@pytest.mark.parametrize(
    "row", list(rows()), ids=lambda row: f"{row.specification} line {row.line}"
)
def test_every_requirement_has_a_test_or_a_reason(row: Row) -> None:
    assert LINES.fullmatch(row.line)
    assert row.requirement
    assert row.tests or len(row.held_by) > len(REASON) + 20
    assert row.tests or row.held_by.startswith(REASON)
    missing = [
        f"{file}::{name}"
        for file, name in row.tests
        if not (TESTS / file).is_file() or name not in defined_in(file)
    ]
    assert missing == []
