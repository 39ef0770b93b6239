"""`kindly setup`: what it prints, what it writes, and what stays unchanged."""

import io
import json
import os
import re
import shlex
import stat
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kindly.cli.clients import CLIENTS, Client, ClientHost, client_named
from kindly.cli.commands import cli
from kindly.cli.setup import located, this_machine
from kindly.errors import InputError
from tests.support.setup_command import logging_kept, setup

KEY = "canary-brave-0c1d2e3f"
TOKEN = "canary-token-99aabb"
not_windows = pytest.mark.skipif(sys.platform == "win32", reason="files have no mode there")


def refusal(result: Result) -> str:
    assert isinstance(result.exception, InputError)
    return result.exception.detail


def codex(home: Path) -> Path:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    return folder / "config.toml"


def test_the_change_is_shown_and_written_after_confirmation(tmp_path: Path) -> None:
    file = codex(tmp_path)
    file.write_text('model = "gpt" # mine\n', encoding="utf-8")
    result = setup(tmp_path, "codex", "--command", "kindly", answer="y\n")
    assert result.exit_code == 0, result.output
    assert "+[mcp_servers.kindly]" in result.output
    assert "Write this change?" in result.output
    text = file.read_text(encoding="utf-8")
    assert text.startswith('model = "gpt" # mine\n\n[mcp_servers.kindly]\ncommand = "kindly"\n')
    assert (tmp_path / ".codex/config.toml.bak1").read_text(
        encoding="utf-8"
    ) == 'model = "gpt" # mine\n'


@pytest.mark.parametrize("answer", ["n\n", "\n", ""], ids=["no", "just enter", "no terminal"])
def test_nothing_is_written_without_confirmation(tmp_path: Path, answer: str) -> None:
    file = codex(tmp_path)
    result = setup(tmp_path, "codex", answer=answer)
    assert result.exit_code == 1
    assert "Nothing was written." in result.output
    assert not file.exists()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_second_run_has_nothing_to_change(tmp_path: Path, client: Client) -> None:
    first = setup(tmp_path, client.name, "--yes", "--command", "kindly --quick")
    second = setup(tmp_path, client.name, "--yes", "--command", "kindly --quick")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "nothing to change" in second.output
    assert list(tmp_path.rglob("*.bak*")) == []


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_key_is_prompted_for_written_and_never_shown(tmp_path: Path, client: Client) -> None:
    result = setup(tmp_path, client.name, "--key", "BRAVE_API_KEY", answer=f"{KEY}\ny\n")
    assert result.exit_code == 0, result.output
    assert KEY not in result.output
    assert "BRAVE_API_KEY: set (hidden)" in result.output
    file = located(client, this_machine({"HOME": str(tmp_path)}))
    entry = client.form.load(file.read_text(encoding="utf-8"))[client.section]
    assert isinstance(entry, dict)
    assert entry["kindly"][client.names.environ]["BRAVE_API_KEY"] == KEY


def test_a_key_is_taken_from_the_environment(tmp_path: Path) -> None:
    arguments = ("codex", "--yes", "--key", "BRAVE_API_KEY", "--from-env")
    result = setup(tmp_path, *arguments, BRAVE_API_KEY=KEY)
    assert result.exit_code == 0, result.output
    assert KEY not in result.output
    assert KEY in codex(tmp_path).read_text(encoding="utf-8")
    assert "BRAVE_API_KEY is not set" in refusal(setup(tmp_path, *arguments, BRAVE_API_KEY=""))


def test_a_later_run_keeps_existing_keys(tmp_path: Path) -> None:
    setup(tmp_path, "cursor", "--yes", "--key", "BRAVE_API_KEY", "--from-env", BRAVE_API_KEY=KEY)
    result = setup(tmp_path, "cursor", "--yes", "--command", "other")
    assert KEY not in result.output
    kept = json.loads((tmp_path / ".cursor/mcp.json").read_text(encoding="utf-8"))
    assert kept["mcpServers"]["kindly"]["command"] == "other"
    assert kept["mcpServers"]["kindly"]["env"]["BRAVE_API_KEY"] == KEY


def test_keys_of_other_servers_are_not_shown(tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(
        f'{{\n "mcpServers": {{\n  "x": {{"env": {{"X_KEY": "{TOKEN}"}}}}\n }}\n}}\n',
        encoding="utf-8",
    )
    result = setup(tmp_path, "cursor", "--yes")
    assert '"X_KEY": "***"' in result.output
    assert TOKEN not in result.output
    assert TOKEN in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("BRAVE_KEY", "Did you mean BRAVE_API_KEY?"), ("ZZZ", "docs/settings.md")],
)
def test_an_unknown_setting_is_refused(tmp_path: Path, name: str, hint: str) -> None:
    assert hint in refusal(setup(tmp_path, "codex", "--key", name))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_print_writes_nothing(tmp_path: Path, client: Client) -> None:
    result = setup(tmp_path, client.name, "--print", "--key", "SERPER_API_KEY")
    shown = client.form.load(result.stdout)[client.section]
    assert isinstance(shown, dict)
    entry, names = shown["kindly"], client.names
    assert entry[names.environ]["SERPER_API_KEY"] == "your-key"
    words = entry[names.arguments or names.program]
    assert words[-3:] == ["start-mcp-server", "--context", client.context]
    assert client.file in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_running_server_replaces_the_command_and_back(tmp_path: Path) -> None:
    file = tmp_path / ".gemini" / "settings.json"
    setup(tmp_path, "gemini-cli", "--yes", "--command", "kindly")
    address = ("--http", "http://127.0.0.1:8000/mcp", "--key", "KINDLY_HTTP_TOKEN", "--from-env")
    result = setup(tmp_path, "gemini-cli", "--yes", *address, KINDLY_HTTP_TOKEN=TOKEN)
    assert TOKEN not in result.output
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["kindly"]
    assert entry == {
        "type": "http",
        "url": "http://127.0.0.1:8000/mcp",
        "headers": {"Authorization": f"Bearer {TOKEN}"},
    }
    setup(tmp_path, "gemini-cli", "--yes", "--command", "kindly")
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["kindly"]
    assert entry.keys() == {"command", "args"}


def test_codex_reads_the_token_from_the_environment(tmp_path: Path) -> None:
    address = ("--http", "http://127.0.0.1:8000/mcp", "--key", "KINDLY_HTTP_TOKEN", "--from-env")
    result = setup(tmp_path, "codex", "--yes", *address, KINDLY_HTTP_TOKEN=TOKEN)
    text = codex(tmp_path).read_text(encoding="utf-8")
    assert tomllib.loads(text)["mcp_servers"]["kindly"] == {
        "url": "http://127.0.0.1:8000/mcp",
        "bearer_token_env_var": "KINDLY_HTTP_TOKEN",
    }
    assert "reads the token from the environment variable KINDLY_HTTP_TOKEN" in result.output


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("claude-desktop", "--http", "http://127.0.0.1:8000/mcp"), "in its settings"),
        (("zed", "--http", "127.0.0.1:8000"), "--http takes an address"),
        (
            ("zed", "--http", "http://127.0.0.1:8000/mcp", "--key", "BRAVE_API_KEY", "--from-env"),
            "where the server runs",
        ),
        (("zed", "--command", " "), "--command is empty"),
    ],
    ids=["no place for it", "no address", "keys of the server", "no command"],
)
def test_invalid_options_are_reported(
    tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    assert named in refusal(setup(tmp_path, *arguments, BRAVE_API_KEY=KEY))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"a = 1\nb =\n", "line 2"),
        (b"\xff\xfe", "not UTF-8"),
        (b"mcp_servers = 3\n", "mcp_servers"),
    ],
    ids=["broken", "another encoding", "unusable"],
)
def test_a_malformed_file_stays_unchanged(tmp_path: Path, content: bytes, named: str) -> None:
    file = codex(tmp_path)
    file.write_bytes(content)
    detail = refusal(setup(tmp_path, "codex", "--yes"))
    assert named in detail
    assert file.read_bytes() == content
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_folder_instead_of_the_file_is_reported(tmp_path: Path) -> None:
    codex(tmp_path).mkdir()
    assert "cannot be read" in refusal(setup(tmp_path, "codex", "--yes"))


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("", encoding="utf-8")
    assert "cannot be" in refusal(setup(tmp_path, "zed", "--yes"))


def test_a_name_that_is_too_long_is_reported(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 250)
    assert "cannot be written" in refusal(setup(tmp_path, "zed", "--yes", "--file", str(file)))
    assert list(tmp_path.iterdir()) == []


def test_backups_are_numbered_and_never_overwritten(tmp_path: Path) -> None:
    file = codex(tmp_path)
    for number in range(3):
        file.write_text(f"n = {number}\n", encoding="utf-8")
        setup(tmp_path, "codex", "--yes")
    kept = [path.read_text(encoding="utf-8") for path in sorted(file.parent.glob("*.bak*"))]
    assert kept == ["n = 0\n", "n = 1\n", "n = 2\n"]


@not_windows
def test_a_file_keeps_its_mode_and_its_symbolic_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("n = 1\n", encoding="utf-8")
    real.chmod(0o640)
    codex(tmp_path).symlink_to(real)
    setup(tmp_path, "codex", "--yes")
    assert codex(tmp_path).is_symlink()
    assert "mcp_servers" in real.read_text(encoding="utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "dotfiles.toml.bak1").stat().st_mode) == 0o640


@not_windows
def test_a_new_file_is_private_and_a_public_one_gets_a_warning(tmp_path: Path) -> None:
    key = ("--key", "BRAVE_API_KEY", "--from-env")
    first = setup(tmp_path, "codex", "--yes", *key, BRAVE_API_KEY=KEY)
    assert stat.S_IMODE(codex(tmp_path).stat().st_mode) == 0o600
    assert "chmod 600" not in first.output
    codex(tmp_path).chmod(0o644)
    second = setup(tmp_path, "codex", "--yes", *key, BRAVE_API_KEY=f"{KEY}-2")
    assert "chmod 600" in second.output


def test_a_file_changed_during_the_prompt_is_not_overwritten(tmp_path: Path) -> None:
    """The other end of the pipe changes the file before it answers."""
    file = codex(tmp_path)
    file.write_text("n = 1\n", encoding="utf-8")

    class Meanwhile(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            file.write_text("n = 2\n", encoding="utf-8")
            return super().read1(size)

    env = {"HOME": str(tmp_path), "CODEX_HOME": None}
    with logging_kept():
        result = CliRunner().invoke(cli, ["setup", "codex"], input=Meanwhile(b"y\n"), env=env)
    assert "Run the command again" in refusal(result)
    assert file.read_text(encoding="utf-8") == "n = 2\n"


def test_another_file_can_be_chosen(tmp_path: Path) -> None:
    file = tmp_path / "project" / ".mcp.json"
    result = setup(tmp_path, "claude-code", "--yes", "--file", str(file))
    assert result.exit_code == 0, result.output
    assert "seems not to be installed" in result.output
    assert "kindly" in json.loads(file.read_text(encoding="utf-8"))["mcpServers"]


def test_desktop_programs_get_the_full_path_of_uvx(tmp_path: Path) -> None:
    result = setup(tmp_path, "zed", "--print", "--command", "/opt/bin/uvx kindly")
    entry = json.loads(result.stdout)["context_servers"]["kindly"]
    assert entry["command"] == "/opt/bin/uvx"
    assert entry["env"] == {"UV_COMPILE_BYTECODE": "1"}


def test_without_a_client_all_are_listed_with_their_state(tmp_path: Path) -> None:
    setup(tmp_path, "codex", "--yes")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{", encoding="utf-8")
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text("{}", encoding="utf-8")
    lines = setup(tmp_path).output.splitlines()
    states = {line.split()[0]: line[16:27].strip() for line in lines}
    assert states == {
        "claude-code": "no file",
        "claude-desktop": "no file",
        "codex": "set up",
        "cursor": "unreadable",
        "vscode": "no file",
        "gemini-cli": "not set up",
        "windsurf": "no file",
        "zed": "no file",
        "cline": "no file",
        "roo": "no file",
        "lm-studio": "no file",
        "kiro": "no file",
        "opencode": "no file",
        "goose": "no file",
        "continue": "no file",
        "jetbrains": "no file",
    }


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ([], "AppData/Roaming/Claude"),
        (["AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude/"], "AppData/Local/Packages"),
        (
            [
                "AppData/Local/Packages/Claude_x1/LocalCache/Roaming/Claude/",
                "AppData/Roaming/Claude/claude_desktop_config.json",
            ],
            "AppData/Roaming/Claude",
        ),
        (["AppData/Local/Claude-Data/claude_y/"], "AppData/Local/Claude-Data/claude_y"),
    ],
    ids=["nothing", "from the store", "a file before a folder", "newer from the store"],
)
def test_on_windows_the_file_of_the_installed_build_is_found(
    tmp_path: Path, there: list[str], found: str
) -> None:
    for name in there:
        path = tmp_path / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("{}", encoding="utf-8")
    file = located(client_named("claude-desktop"), ClientHost("win32", tmp_path, {}))
    assert file.relative_to(tmp_path).as_posix().startswith(found)


def test_a_machine_without_home_variables_has_a_home() -> None:
    assert this_machine({}).home == Path.home()
    assert this_machine({"USERPROFILE": os.sep}).home == Path(os.sep)


UVX = "uvx --from git+https://github.com/kindly-mcp/kindly kindly-web-search-mcp-server"


def printed(home: Path, client: Client) -> str:
    return setup(home, client.name, "--print", "--key", "SERPER_API_KEY", "--command", UVX).stdout


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_documentation_shows_what_is_printed(tmp_path: Path, client: Client) -> None:
    page = Path(__file__).parents[2] / "docs" / "start.md"
    chapter = page.read_text(encoding="utf-8").partition(f"\n### {client.label}\n")[2]
    shown = re.findall(r"```(?:json|toml|yaml)\n(.*?)```", chapter, re.DOTALL)[0]
    assert shown == printed(tmp_path, client)


def test_the_commands_of_the_documentation_are_valid() -> None:
    page = Path(__file__).parents[2] / "docs" / "start.md"
    lines = re.findall(r"kindly setup( [^`\n]*)?[`\n]", page.read_text(encoding="utf-8"))
    assert len(lines) > 8
    for line in lines:
        words = [word for word in shlex.split(line) if word != "CLIENT"]
        with cli.commands["setup"].make_context("setup", words) as context:
            assert context.command is cli.commands["setup"]
