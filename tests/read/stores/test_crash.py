"""A writer killed at any moment: the library opens, and nothing that was acknowledged is lost."""

import random
import sys
from pathlib import Path

import anyio
import pytest

from kindly.read.store import StoreSettings
from tests.support.killing import Killer
from tests.support.postgres import schema

KILLS = {"sqlite": 3, "duckdb": 2, "postgres": 2}
QUEUED_KILLS = {"sqlite": 2, "duckdb": 1, "postgres": 1}
CASES = [
    *((name, kills, "direct") for name, kills in KILLS.items()),
    *((name, kills, "queued") for name, kills in QUEUED_KILLS.items()),
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
@pytest.mark.parametrize(("name", "kills", "how"), CASES)
def test_nothing_acknowledged_is_lost(
    name: str, kills: int, how: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = schema(request.getfixturevalue("postgres")) if name == "postgres" else ""
    chance = random.Random(name)  # noqa: S311 - moments
    killer = Killer(name, StoreSettings(tmp_path, url), chance, how)
    for number in range(kills):
        killer.kill_one(writing=number == 0)
        assert anyio.run(killer.lost) == []
    assert killer.writes > 0
    assert not list(tmp_path.rglob("*.damaged-*"))
