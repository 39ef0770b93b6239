"""The public conformance suite against Kindly's HTTP server, in both revisions of the protocol.

`demo.yml` and `kindly.yml` list what it asks for and Kindly does not have, with the reason. The suite fails where
anything else fails, and where something in those files begins to pass.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.node_tools import Node
from tests.support.processes import SCRIPT, child_environment, serving

HERE = Path(__file__).parent
REVISIONS = ("2025-11-25", "2026-07-28")
COMMANDS = {
    "demo": [sys.executable, "-m", "tests.conformance.demo"],
    "kindly": [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", "0"],
}


@pytest.fixture(scope="module", params=list(COMMANDS))
def server(
    request: pytest.FixtureRequest, node: Node, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    environ = child_environment() | {
        "DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "PYTHONPATH": str(HERE.parents[1]),
    }
    with serving(COMMANDS[request.param], environ) as address:
        yield request.param, address


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_it_conforms(server: tuple[str, str], node: Node, revision: str, tmp_path: Path) -> None:
    name, address = server
    options = {
        "--url": address,
        "--requirements": revision,
        "--expected-failures": str(HERE / f"{name}.yml"),
        "--output-dir": str(tmp_path),
    }
    command = node.command(
        "@modelcontextprotocol/conformance/dist/index.js",
        "server",
        *(word for option in options.items() for word in option),
    )
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=child_environment(), check=False
    )
    summary = done.stdout.partition("=== SUMMARY ===")[2]
    assert done.returncode == 0, summary or done.stdout + done.stderr
    assert "Baseline check passed" in summary
    assert re.search(r"Total: [1-9]\d+ passed", summary)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_expected_failure_has_its_reason(name: str) -> None:
    lines = (HERE / f"{name}.yml").read_text(encoding="utf-8").partition("server:\n")[2]
    assert lines.startswith("  # ")
    assert all(re.fullmatch(r"  (# .{30,}|- [\w:-]+)", line) for line in lines.splitlines())
    entries = re.findall(r"- (\S+)", lines)
    assert len(entries) == len(set(entries))
