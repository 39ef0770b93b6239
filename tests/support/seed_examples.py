"""The specifications' own examples, word for word, as `tests/data/contracts/<number>/` has them."""

import json
from pathlib import Path
from typing import Any

from tests.support.paths import DATA

FOLDER = DATA / "contracts"


def example(number: str, name: str) -> dict[str, Any]:
    """A JSON example of a specification."""
    loaded: dict[str, Any] = json.loads(path_of(number, f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def path_of(number: str, name: str) -> Path:
    """Where an example lies."""
    return FOLDER / number / name
