"""What the documents say is what the code does."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from html import unescape
from pathlib import Path

import click
import pytest
from tools.settings_table import rows, table

from kindly.cli.commands import cli
from kindly.settings import CONTEXTS
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (DOCS / "settings.md").read_text(encoding="utf-8")


def test_settings_page_has_the_table_of_the_code() -> None:
    assert table() in SETTINGS, "run: python -m tools.settings_table --write"


def test_every_context_is_in_the_settings_page() -> None:
    for name, host in CONTEXTS.items():
        assert f"| `{name}` | {host.max_tokens:,} | {host.deadline_s:.0f} s |" in SETTINGS


def test_example_environment_names_known_variables_only() -> None:
    text = (ROOT / "packaging" / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^#? ?([A-Z_]{4,})=", text, re.MULTILINE))
    known = {row.split("`")[1] for row in rows()}
    assert named
    assert named <= known


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_stands_in_the_readme(name: str) -> None:
    assert name in README


@pytest.mark.parametrize(
    "option",
    sorted(
        {
            name
            for command in cli.commands.values()
            for parameter in command.params
            if isinstance(parameter, click.Option)
            for name in parameter.opts
            if name.startswith("--")
        }
    ),
)
def test_every_option_is_documented(option: str) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert f"`{option}" in pages + README


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@cache
def demo() -> str:
    """What the demo prints."""
    script = str(Path(sys.executable).with_name("kindly"))
    done = subprocess.run([script, "demo"], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.rstrip()


def test_readme_shows_what_the_demo_prints() -> None:
    assert demo() == README.split("````\n")[1].rstrip()


def test_the_terminal_recording_shows_what_the_demo_prints() -> None:
    drawn = (DOCS / "demo.svg").read_text(encoding="utf-8")
    shown = " ".join(unescape(re.sub(r"<[^>]+>", "", drawn.partition("<rect")[2])).split())
    assert shown.endswith(" ".join(demo().split()))


def configurations() -> list[tuple[str, str]]:
    return list(re.findall(r"```(json|toml)\n(.*?)```", README, re.DOTALL))


@pytest.mark.parametrize(("language", "text"), configurations())
def test_client_configurations_are_valid_and_start_the_server(language: str, text: str) -> None:
    """The program accepts the command of each snippet, with the installed script in place of `uvx`."""
    loaded = json.loads(text) if language == "json" else tomllib.loads(text)
    (servers,) = (loaded[key] for key in ("mcpServers", "servers", "mcp_servers") if key in loaded)
    (server,) = servers.values()
    assert (server["command"], server["args"][:2]) == (
        "uvx",
        ["--from", "git+https://github.com/kindly-mcp/kindly"],
    )
    name, command, *options = server["args"][2:]
    assert name == "kindly-web-search-mcp-server"
    with cli.commands[command].make_context(name, options) as context:
        assert context.params["context"] in CONTEXTS


def test_readme_has_a_configuration_for_every_client() -> None:
    for client in (
        "Codex",
        "Claude Code",
        "Claude Desktop",
        "Gemini CLI",
        "Cursor",
        "VS Code / Copilot",
    ):
        assert f"<b>{client}</b>" in README


@pytest.mark.parametrize(
    "line",
    [
        line
        for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
        for line in block.splitlines()
        if re.search(r"(^|/)kindly | kindly-web-search-mcp-server ", line)
    ],
)
def test_commands_of_the_readme_are_understood(line: str) -> None:
    words = shlex.split(line)
    program = next(
        number
        for number, word in reversed(list(enumerate(words)))
        if word.endswith(("kindly", "kindly-web-search-mcp-server"))
    )
    command, *arguments = words[program + 1 :]
    with cli.commands[command].make_context(command, arguments) as context:
        assert context.command is cli.commands[command]
