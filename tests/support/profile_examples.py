"""Examples of requests, answers and settings that a profile must accept: `tests/data/contracts/<profile>/`."""

import json
from pathlib import Path
from typing import Any

from tests.support.paths import DATA

FOLDER = DATA / "contracts"


def example(profile: str, name: str) -> dict[str, Any]:
    """A JSON example."""
    text = path_of(profile, f"{name}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def path_of(profile: str, name: str) -> Path:
    """The path of an example."""
    return FOLDER / profile / name
