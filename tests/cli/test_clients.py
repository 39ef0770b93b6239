"""The configuration files of clients and the layout of their entries."""

from pathlib import Path

import pytest

from kindly.cli.clients import CLIENTS, Client, ClientHost, client_named
from kindly.settings import CONTEXTS

HOME = Path("/users/ada")
ROAMING = HOME / "AppData" / "Roaming"
SUPPORT = HOME / "Library" / "Application Support"


def last(client: str, platform: str, **environ: str) -> Path:
    """The default file."""
    one = client_named(client)
    place = one.places(ClientHost(platform, HOME, environ))[-1]
    assert place.folder is not None
    return place.folder / one.file


@pytest.mark.parametrize(
    ("client", "platform", "path"),
    [
        ("claude-code", "linux", HOME / ".claude.json"),
        ("claude-code", "win32", HOME / ".claude.json"),
        ("claude-desktop", "linux", HOME / ".config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "darwin", SUPPORT / "Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", ROAMING / "Claude/claude_desktop_config.json"),
        ("codex", "linux", HOME / ".codex/config.toml"),
        ("cursor", "darwin", HOME / ".cursor/mcp.json"),
        ("vscode", "linux", HOME / ".config/Code/User/mcp.json"),
        ("vscode", "darwin", SUPPORT / "Code/User/mcp.json"),
        ("vscode", "win32", ROAMING / "Code/User/mcp.json"),
        ("gemini-cli", "linux", HOME / ".gemini/settings.json"),
        ("windsurf", "win32", HOME / ".codeium/windsurf/mcp_config.json"),
        ("zed", "linux", HOME / ".config/zed/settings.json"),
        ("zed", "darwin", HOME / ".config/zed/settings.json"),
        ("zed", "win32", ROAMING / "Zed/settings.json"),
        (
            "cline",
            "linux",
            HOME / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings"
            "/cline_mcp_settings.json",
        ),
        (
            "roo",
            "darwin",
            SUPPORT / "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings"
            "/mcp_settings.json",
        ),
        ("lm-studio", "win32", HOME / ".lmstudio/mcp.json"),
        ("kiro", "linux", HOME / ".kiro/settings/mcp.json"),
        ("opencode", "darwin", HOME / ".config/opencode/opencode.json"),
        ("opencode", "win32", HOME / ".config/opencode/opencode.json"),
        ("goose", "darwin", HOME / ".config/goose/config.yaml"),
        ("goose", "win32", ROAMING / "Block/goose/config/config.yaml"),
        ("continue", "linux", HOME / ".continue/mcpServers/kindly.json"),
        ("jetbrains", "darwin", HOME / ".junie/mcp/mcp.json"),
    ],
)
def test_files_are_in_the_folder_of_the_platform(client: str, platform: str, path: Path) -> None:
    assert last(client, platform) == path


@pytest.mark.parametrize(
    ("client", "platform", "variable", "path"),
    [
        ("claude-code", "linux", "CLAUDE_CONFIG_DIR", "/x/.claude.json"),
        ("codex", "darwin", "CODEX_HOME", "/x/config.toml"),
        ("gemini-cli", "linux", "GEMINI_CLI_HOME", "/x/.gemini/settings.json"),
        ("vscode", "linux", "XDG_CONFIG_HOME", "/x/Code/User/mcp.json"),
        ("vscode", "linux", "VSCODE_PORTABLE", "/x/user-data/User/mcp.json"),
        ("vscode", "win32", "APPDATA", "/x/Code/User/mcp.json"),
        ("zed", "linux", "XDG_CONFIG_HOME", "/x/zed/settings.json"),
        ("zed", "linux", "FLATPAK_XDG_CONFIG_HOME", "/x/zed/settings.json"),
        ("opencode", "linux", "XDG_CONFIG_HOME", "/x/opencode/opencode.json"),
        ("goose", "linux", "XDG_CONFIG_HOME", "/x/goose/config.yaml"),
        ("continue", "linux", "CONTINUE_GLOBAL_DIR", "/x/mcpServers/kindly.json"),
    ],
)
def test_environment_variables_change_the_folder(
    client: str, platform: str, variable: str, path: str
) -> None:
    assert last(client, platform, **{variable: "/x"}) == Path(path)


def test_the_command_line_of_cline_has_a_folder_of_its_own() -> None:
    place, *_ = client_named("cline").places(ClientHost("linux", HOME, {}))
    assert place.folder == HOME / ".cline/data/settings"


@pytest.mark.parametrize(
    ("client", "kind"), [("cline", "streamableHttp"), ("roo", "streamable-http"), ("kiro", None)]
)
def test_an_address_has_the_type_that_the_client_documents(client: str, kind: str | None) -> None:
    fields, _ = client_named(client).address("https://search.example/mcp", "a-token")
    assert fields.get("type") == kind
    assert fields["headers"] == {"Authorization": "Bearer a-token"}


def test_opencode_has_the_layout_of_its_documentation() -> None:
    """https://opencode.ai/docs/mcp-servers/: `command` is a list, variables are in `environment`."""
    client = client_named("opencode")
    assert client.path == ("mcp", "kindly")
    assert client.command(("uvx", "kindly"), {"KEY": "v"})[0] == {
        "type": "local",
        "command": ["uvx", "kindly"],
        "environment": {"KEY": "v"},
        "enabled": True,
    }
    assert client.address("https://search.example/mcp", "t")[0] == {
        "type": "remote",
        "url": "https://search.example/mcp",
        "enabled": True,
        "headers": {"Authorization": "Bearer t"},
    }


def test_goose_has_the_layout_of_its_documentation() -> None:
    """https://block.github.io/goose/docs/guides/config-files: `extensions`, with `cmd`, `args` and `envs`."""
    client = client_named("goose")
    assert client.path == ("extensions", "kindly")
    common = {"name": "kindly", "enabled": True, "timeout": 300}
    assert client.command(("uvx", "kindly"), {"KEY": "v"})[0] == {
        "type": "stdio",
        "cmd": "uvx",
        "args": ["kindly"],
        "envs": {"KEY": "v"},
        **common,
    }
    assert client.address("https://search.example/mcp", "t")[0] == {
        "type": "streamable_http",
        "uri": "https://search.example/mcp",
        "headers": {"Authorization": "Bearer t"},
        **common,
    }


def test_continue_has_the_layout_of_its_documentation() -> None:
    """https://docs.continue.dev/customize/deep-dives/mcp: JSON files of other clients, in a folder `mcpServers`."""
    client = client_named("continue")
    assert client.path == ("mcpServers", "kindly")
    fields, _ = client.command(("uvx", "kindly"), {})
    assert fields == {"type": "stdio", "command": "uvx", "args": ["kindly"]}
    assert client.address("https://search.example/mcp", None)[0] == {
        "type": "http",
        "url": "https://search.example/mcp",
    }


def test_junie_only_starts_commands() -> None:
    """https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html: stdio is the only transport."""
    client = client_named("jetbrains")
    assert client.path == ("mcpServers", "kindly")
    assert client.url is None


def test_every_client_has_a_context_that_exists() -> None:
    assert {client.context for client in CLIENTS} <= CONTEXTS.keys()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_an_entry_for_a_command_and_one_for_an_address_exclude_each_other(client: Client) -> None:
    fields, dropped = client.command(("uvx", "kindly"), {"KEY": "value"})
    names = client.names
    started = ["uvx", "kindly"] if not names.arguments else "uvx"
    assert fields[names.program] == started
    assert not names.arguments or fields[names.arguments] == ["kindly"]
    assert fields[names.environ] == {"KEY": "value"}
    assert not set(dropped) & fields.keys()
    if client.url is None:
        return
    there, gone = client.address("http://127.0.0.1:8000/mcp", "a-token")
    assert there[client.url] == "http://127.0.0.1:8000/mcp"
    assert {names.program, names.arguments, names.environ} - {""} <= set(gone)
    assert client.url in dropped
    assert "headers" in there or there["bearer_token_env_var"] == "KINDLY_HTTP_TOKEN"
