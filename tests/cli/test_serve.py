"""Serving: what it imports, and when it ends. Its transports are tested by `journeys/`."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kindly.cli.serve import early_answers_for
from kindly.settings import Settings
from tests.support.processes import (
    INITIALIZE,
    INITIALIZED,
    PATIENCE_S,
    SCRIPT,
    child_environment,
)

LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

pytestmark = pytest.mark.slow


def test_without_tracing_the_sdk_is_not_imported() -> None:
    program = "import sys, kindly.app, kindly.server.mcp; print('opentelemetry.sdk' in sys.modules)"
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


def served(
    messages: Sequence[Mapping[str, object]], environ: dict[str, str], *command: str
) -> "subprocess.CompletedProcess[bytes]":
    """A server that is sent messages and then the end of its input."""
    return subprocess.run(
        command or [str(SCRIPT), "start-mcp-server"],
        env=child_environment({"KINDLY_BROWSER": "off", **environ}),
        input=b"".join(json.dumps(message).encode() + b"\n" for message in messages),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_tools_are_listed_without_the_sdk_and_other_slow_imports(tmp_path: Path) -> None:
    program = (
        "import atexit, sys; from kindly.cli import main; sys.argv[1:] = ['start-mcp-server'];"
        "slow = {'mcp', 'mcp_types', 'asyncio', 'httpx2', 'numpy', 'sqlite3', 'starlette', 'rich'};"
        "atexit.register(lambda: print(sorted(slow & sys.modules.keys()), file=sys.stderr)); main()"
    )
    done = served(
        [INITIALIZE, INITIALIZED, LIST], {"DATA_DIR": str(tmp_path)}, sys.executable, "-c", program
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert len(answers[1]["result"]["tools"]) == 4
    assert done.stderr.decode().strip() == "[]"


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"REQUEST_TIMEOUT_MS": "soon"}, "REQUEST_TIMEOUT_MS"),
        ({"KINDLY_PROFIL": "x"}, "KINDLY_PROFILE"),
    ],
    ids=["a bad value", "an unknown variable"],
)
def test_an_error_at_start_comes_instead_of_an_answer(environ: dict[str, str], named: str) -> None:
    done = served([INITIALIZE, INITIALIZED, LIST], environ)
    assert done.returncode != 0
    assert done.stdout == b""
    assert named in done.stderr.decode()


def test_standard_input_is_not_left_to_child_processes(tmp_path: Path) -> None:
    program = (
        "import os, sys, kindly.cli.serve as serve; from kindly.settings import Settings;"
        "early = serve.early_answers_for(Settings.load({}));"
        "print(os.path.samefile('/dev/stdin', os.devnull), early is not None)"
    )
    done = served([], {"DATA_DIR": str(tmp_path)}, sys.executable, "-c", program)
    assert done.stdout.split() == [b"True", b"True"]


@pytest.mark.parametrize(
    "environ",
    [
        {"KINDLY_TRANSPORT": "http"},
        {"KINDLY_PROFILE": "media", "KINDLY_MAX_RESULTS": "5"},
        {"KINDLY_PROFILE": "media", "WEB_FETCH_ENABLED": "0"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
    ],
    ids=["HTTP", "another limit", "a tool less", "tracing"],
)
def test_where_settings_change_the_answers_there_are_no_early_ones(environ: dict[str, str]) -> None:
    settings = Settings.load({"KINDLY_CONFIG": os.devnull, **environ})
    assert early_answers_for(settings) is None
