"""Programs in the documentation run unchanged, on the demo's recording."""

import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
CASSETTE = str(files("kindly.cli").joinpath("demo.jsonl"))


def programs() -> list[tuple[str, str]]:
    found = [
        (page.name, text)
        for page in sorted(DOCS.glob("*.md"))
        for text in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    assert found
    return found


@pytest.mark.parametrize(("page", "text"), programs())
def test_a_program_in_the_documentation_runs(page: str, text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "KINDLY_CASSETTE": CASSETTE},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "garden.example/bees ok" in done.stdout
    assert "How bees find flowers" in done.stdout
    assert done.stdout.rstrip().endswith("True")


def test_the_command_of_the_recording_page_is_answered_by_its_cassette(tmp_path: Path) -> None:
    text = (DOCS / "recording.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```sh\nKINDLY_CASSETTE=\S+ kindly (.*?)\n```", text)
    verb, query = command.split(" ", 1)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("kindly")), verb, query.strip('"')],
        env={**os.environ, "KINDLY_CASSETTE": CASSETTE, "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "How bees find flowers" in done.stdout
    assert list(tmp_path.iterdir()) == []
