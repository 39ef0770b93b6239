"""The site of the documentation builds without a warning, and leads to every page."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages == {page.name for page in tmp_path.iterdir() if (page / "index.html").is_file()}
    assert (tmp_path / "demo.svg").is_file()
