"""What docs/hosting.md says to type does what it says, and the limits it gives are the code's."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kindly.server.http import asgi, request_limits
from kindly.server.http.oauth import LEEWAY_S, Resource
from kindly.settings import Settings
from tests.support.processes import PATIENCE_S, child_environment, serving

PAGE = (Path(__file__).parents[2] / "docs" / "hosting.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_server_with_tokens_is_set_up_as_written(tmp_path: Path) -> None:
    start, calls = BLOCKS[0], BLOCKS[1]
    environ = child_environment()
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    environ["DATA_DIR"] = str(tmp_path)
    script = f"cd {shlex.quote(str(tmp_path))}\n" + start.replace("--port 8000", "--port 0")
    script = script.replace("kindly start", "exec kindly start")
    with serving(["sh", "-c", script], environ) as address:
        port = address.rpartition(":")[2].partition("/")[0]
        commands = [line for line in calls.splitlines() if line]
        for command in commands:
            expected = re.search(r"# (\d+)", command)
            assert expected is not None
            done = subprocess.run(
                ["sh", "-c", command.replace(":8000", f":{port}")],
                cwd=tmp_path,
                env=environ,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=True,
            )
            assert done.stdout.strip() == expected[1]
    assert len(commands) == 3
    assert (tmp_path / "tokens").stat().st_mode & 0o077 == 0


def test_oauth_is_set_up_as_written() -> None:
    exports = re.findall(r"^export (\w+)=(\S+)$", BLOCKS[3], re.MULTILINE)
    resource = Resource.of(Settings.load(dict(exports)))
    assert resource is not None
    assert resource.scopes == ("kindly",)
    assert f"({LEEWAY_S} s clock skew allowed)" in PAGE


@pytest.mark.parametrize(
    "row",
    [
        f"| {request_limits.MAX_HEADERS}, {request_limits.MAX_HEADER_BYTES:,} bytes in total |",
        f"{request_limits.MAX_HEAD_BYTES:,} bytes, within {request_limits.HEAD_S:.0f} s",
        f"`KINDLY_MAX_REQUEST_BYTES`, {Settings.load({}).max_request_bytes:,} bytes",
        f"| time for the body to arrive | {request_limits.BODY_S:.0f} s |",
        f"by default {asgi.RATE_PER_MINUTE} per minute",
        f"| concurrent connections | {asgi.MAX_CONNECTIONS:,} |",
        f"`KINDLY_MAX_CALLS`, {Settings.load({}).max_calls}",
    ],
)
def test_the_limits_are_those_of_the_code(row: str) -> None:
    assert row in PAGE
