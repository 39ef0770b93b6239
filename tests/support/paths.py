"""Folders that tests read: the repository, its recorded data, and the shared benchmark data beside it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
DATA = TESTS / "data"
SHARED_DATA = ROOT.parent / "shared" / "data"
