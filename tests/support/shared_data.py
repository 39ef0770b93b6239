"""Benchmark data beside the checkout, `../shared/data`. Tests that need it are skipped without it, for one reason."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.paths import SHARED_DATA

REASON = "the benchmark data ../shared/data is not beside this checkout"


def needs_shared(path: Path) -> pytest.MarkDecorator:
    """Skip a test unless a file or folder of the benchmark data is there."""
    assert path.is_relative_to(SHARED_DATA)
    return pytest.mark.skipif(not path.exists(), reason=REASON)


def shared_lines(path: Path) -> list[str]:
    """The lines of a file of the benchmark data; none without it."""
    assert path.is_relative_to(SHARED_DATA)
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def cases_or_skip(cases: Sequence[object], path: Path) -> Sequence[object]:
    """The cases read from `path`, or one that is skipped, so that a test without data is reported."""
    return cases or [pytest.param(None, id="no data", marks=needs_shared(path))]
