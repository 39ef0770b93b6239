"""Serving: what it imports, and when it ends. Its transports are tested by `journeys/`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE_S, SCRIPT, child_environment

pytestmark = pytest.mark.slow


def test_without_tracing_the_sdk_is_not_imported() -> None:
    program = "import sys, kindly.cli.serve; print('opentelemetry.sdk' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "False"


def test_a_server_over_stdio_ends_with_its_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(SCRIPT), "start-mcp-server"],
        env=child_environment({"DATA_DIR": str(tmp_path), "KINDLY_BROWSER": "off"}),
        input=b"",
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
