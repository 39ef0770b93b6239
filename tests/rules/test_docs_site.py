"""The site of the documentation builds without a warning, and leads to every page."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--config-file",
            "packaging/mkdocs.yml",
            "--site-dir",
            str(tmp_path),
        ],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).with_suffix("") for page in docs.rglob("*.md")}
    built = {page.parent.relative_to(tmp_path) for page in tmp_path.rglob("index.html")}
    assert {page.parent if page.name == "index" else page for page in pages} == built
    assert (tmp_path / "demo.svg").is_file()
