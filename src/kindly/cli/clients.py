"""The MCP clients that `setup` knows: where each keeps its configuration, and the layout of an entry.

Pure: reads nothing from disk.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from kindly.cli.configs import Form
from kindly.cli.configs.jsonc import Json
from kindly.cli.configs.toml import Toml
from kindly.cli.configs.yaml import Yaml
from kindly.frozen import frozen
from kindly.settings import ContextName

ENTRY = "kindly"
"""The name of the server in every client."""
HTTP_TOKEN = "KINDLY_HTTP_TOKEN"  # noqa: S105 - the variable's name


@frozen
class ClientHost:
    """The facts that decide where a client keeps its files."""

    platform: str
    """The value of `sys.platform`."""
    home: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, *default: str) -> Path:
        """The folder in the environment variable, else the default below the home folder."""
        named = self.environ.get(variable)
        return Path(named) if named else self.home.joinpath(*default)

    @property
    def config(self) -> Path:
        """The folder in which desktop programs keep the user's configuration."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")


@frozen
class ConfigPlace:
    """A folder that may have the file, or the folders below it that match `pattern`."""

    root: Path
    pattern: str = ""

    @property
    def folder(self) -> Path | None:
        """The folder; None if there is a pattern."""
        return None if self.pattern else self.root


@frozen
class EntryNames:
    """What the fields of an entry with a command are called."""

    program: str = "command"
    arguments: str = "args"
    """Empty: the program and its arguments are one list."""
    environ: str = "env"


@frozen
class Client:
    """One MCP client."""

    name: str
    label: str
    """Its name in sentences."""
    file: str
    places: Callable[[ClientHost], tuple[ConfigPlace, ...]]
    """Best first; if no folder exists, the last one is created."""
    context: ContextName
    form: Form = field(default_factory=Json)
    section: str = "mcpServers"
    """The table of servers."""
    stdio: Mapping[str, object] = field(default_factory=dict)
    """Further fields of an entry with a command."""
    url: str | None = "url"
    """The field for the address of a server; None: the client only starts commands."""
    http: Mapping[str, object] = field(default_factory=dict)
    """Further fields of an entry with an address."""
    is_desktop: bool = True
    """Whether it starts from a desktop, without the PATH of the shell."""
    after: str = ""
    """The next step for the user."""
    names: EntryNames = field(default_factory=EntryNames)
    own_folder: bool = False
    """Whether the folder of the file may be missing although the client is installed."""

    @property
    def path(self) -> tuple[str, str]:
        """The path of the entry in the file."""
        return self.section, ENTRY

    def command(
        self, command: tuple[str, ...], environ: Mapping[str, str]
    ) -> tuple[dict[str, object], tuple[str, ...]]:
        """The fields of an entry that starts a program, and the fields that it must not have."""
        names = self.names
        own: dict[str, object] = {names.program: list(command)}
        if names.arguments:
            own = {names.program: command[0], names.arguments: list(command[1:])}
        if environ:
            own[names.environ] = dict(environ)
        fields = {**_leading(self.stdio), **own, **_trailing(self.stdio)}
        dropped = {self.url or "", *self.http, "headers", "http_headers", "bearer_token_env_var"}
        return fields, tuple(sorted(dropped - {"", *fields}))

    def address(self, url: str, token: str | None) -> tuple[dict[str, object], tuple[str, ...]]:
        """The fields of an entry that names a running server, and the fields that it must not have."""
        fields: dict[str, object] = {**_leading(self.http), str(self.url): url}
        fields |= _trailing(self.http)
        if token is not None and isinstance(self.form, Toml):
            fields["bearer_token_env_var"] = HTTP_TOKEN
        elif token is not None:
            fields["headers"] = {"Authorization": f"Bearer {token}"}
        names = self.names
        dropped = {names.program, names.arguments, names.environ, *self.stdio} - {""}
        return fields, tuple(sorted(dropped - set(fields)))


def _leading(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name == "type"}


def _trailing(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name != "type"}


def _claude_desktop(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    """On Windows the build from the store and newer builds use other folders."""
    default = ConfigPlace(machine.config / "Claude")
    if machine.platform != "win32":
        return (default,)
    local = machine.folder("LOCALAPPDATA", "AppData", "Local")
    return (
        ConfigPlace(local, "Claude-Data/claude_*"),
        ConfigPlace(local, "Packages/Claude_*/LocalCache/Roaming/Claude"),
        default,
    )


def _vscode(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    if portable := machine.environ.get("VSCODE_PORTABLE"):
        return (ConfigPlace(Path(portable) / "user-data" / "User"),)
    names = ("Code", "Code - Insiders", "VSCodium", "Code")
    return tuple(ConfigPlace(machine.config / name / "User") for name in names)


def _zed(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    if machine.platform == "win32":
        return (ConfigPlace(machine.config / "Zed"),)
    if machine.platform == "darwin":
        return (ConfigPlace(machine.home / ".config" / "zed"),)
    if flatpak := machine.environ.get("FLATPAK_XDG_CONFIG_HOME"):
        return (ConfigPlace(Path(flatpak) / "zed"),)
    return (ConfigPlace(machine.config / "zed"),)


def _claude_code(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.folder("CLAUDE_CONFIG_DIR")),)


def _codex(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.folder("CODEX_HOME", ".codex")),)


def _cursor(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.home / ".cursor"),)


def _gemini(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.folder("GEMINI_CLI_HOME") / ".gemini"),)


def _windsurf(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.home / ".codeium" / "windsurf"),)


def _extension(machine: ClientHost, name: str) -> tuple[ConfigPlace, ...]:
    """The settings folder of an extension of VS Code."""
    return tuple(
        ConfigPlace(place.root / "globalStorage" / name / "settings") for place in _vscode(machine)
    )


def _cline(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    """The command line program has a folder of its own."""
    program = ConfigPlace(machine.home / ".cline" / "data" / "settings")
    return (program, *_extension(machine, "saoudrizwan.claude-dev"))


def _roo(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return _extension(machine, "rooveterinaryinc.roo-cline")


def _lm_studio(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    """The documented folder; some versions on macOS use the other one."""
    return (
        ConfigPlace(machine.home / ".cache" / "lm-studio"),
        ConfigPlace(machine.home / ".lmstudio"),
    )


def _kiro(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.home / ".kiro" / "settings"),)


def _opencode(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    """The same folder on every platform."""
    return (ConfigPlace(machine.folder("XDG_CONFIG_HOME", ".config") / "opencode"),)


def _goose(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    if machine.platform == "win32":
        return (ConfigPlace(machine.config / "Block" / "goose" / "config"),)
    return (ConfigPlace(machine.folder("XDG_CONFIG_HOME", ".config") / "goose"),)


def _continue(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    """A folder of files, each with the servers of one file of another client."""
    return (ConfigPlace(machine.folder("CONTINUE_GLOBAL_DIR", ".continue") / "mcpServers"),)


def _junie(machine: ClientHost) -> tuple[ConfigPlace, ...]:
    return (ConfigPlace(machine.home / ".junie" / "mcp"),)


CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-code",
        "Claude Code",
        ".claude.json",
        _claude_code,
        "claude-code",
        form=Json(comments=False),
        stdio={"type": "stdio"},
        http={"type": "http"},
        is_desktop=False,
        after="Start a new session; /mcp lists the server.",
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        "claude_desktop_config.json",
        _claude_desktop,
        "claude-desktop",
        form=Json(comments=False),
        url=None,
        after="Quit Claude Desktop and start it again.",
    ),
    Client(
        "codex",
        "Codex",
        "config.toml",
        _codex,
        "codex",
        form=Toml(),
        section="mcp_servers",
        stdio={"startup_timeout_sec": 60},
        is_desktop=False,
        after="Start a new session; /mcp lists the server.",
    ),
    Client(
        "cursor",
        "Cursor",
        "mcp.json",
        _cursor,
        "cursor",
        after="Cursor Settings, MCP, lists the server; turn it on there if it is off.",
    ),
    Client(
        "vscode",
        "VS Code",
        "mcp.json",
        _vscode,
        "vscode",
        section="servers",
        stdio={"type": "stdio"},
        http={"type": "http"},
        after="Run the command `MCP: List Servers` and start the server.",
    ),
    Client(
        "gemini-cli",
        "Gemini CLI",
        "settings.json",
        _gemini,
        "gemini-cli",
        http={"type": "http"},
        is_desktop=False,
        after="Start a new session; /mcp lists the server.",
    ),
    Client(
        "windsurf",
        "Windsurf",
        "mcp_config.json",
        _windsurf,
        "agent",
        url="serverUrl",
        after="Press Refresh in Windsurf's list of MCP servers.",
    ),
    Client(
        "zed",
        "Zed",
        "settings.json",
        _zed,
        "agent",
        section="context_servers",
        after="The settings of the Agent Panel list the server; Zed starts it.",
    ),
    Client(
        "cline",
        "Cline",
        "cline_mcp_settings.json",
        _cline,
        "agent",
        http={"type": "streamableHttp"},
        after="The MCP Servers view of Cline lists the server.",
    ),
    Client(
        "roo",
        "Roo Code",
        "mcp_settings.json",
        _roo,
        "agent",
        http={"type": "streamable-http"},
        after="The MCP settings of Roo Code list the server.",
    ),
    Client(
        "lm-studio",
        "LM Studio",
        "mcp.json",
        _lm_studio,
        "agent",
        after="The Program tab of LM Studio lists the server; turn it on there.",
    ),
    Client(
        "kiro",
        "Kiro",
        "mcp.json",
        _kiro,
        "agent",
        after="The MCP servers in the Kiro panel list the server.",
    ),
    Client(
        "opencode",
        "opencode",
        "opencode.json",
        _opencode,
        "agent",
        section="mcp",
        stdio={"type": "local", "enabled": True},
        http={"type": "remote", "enabled": True},
        is_desktop=False,
        after="`opencode mcp list` shows the server.",
        names=EntryNames(arguments="", environ="environment"),
    ),
    Client(
        "goose",
        "Goose",
        "config.yaml",
        _goose,
        "agent",
        form=Yaml("extensions", ENTRY),
        section="extensions",
        stdio={"type": "stdio", "name": ENTRY, "enabled": True, "timeout": 300},
        url="uri",
        http={"type": "streamable_http", "name": ENTRY, "enabled": True, "timeout": 300},
        after="Start a new session; `goose info -v` shows the extension.",
        names=EntryNames("cmd", "args", "envs"),
    ),
    Client(
        "continue",
        "Continue",
        "kindly.json",
        _continue,
        "agent",
        stdio={"type": "stdio"},
        http={"type": "http"},
        after="The tools of the server are there in agent mode.",
        own_folder=True,
    ),
    Client(
        "jetbrains",
        "Junie in JetBrains IDEs",
        "mcp.json",
        _junie,
        "agent",
        url=None,
        after="Settings, Tools, Junie, MCP Settings lists the server. For AI Assistant, paste the entry of "
        "`kindly setup jetbrains --print` under Settings, Tools, AI Assistant, Model Context Protocol.",
        own_folder=True,
    ),
)


def client_named(name: str) -> Client:
    """The client with this name, which must exist."""
    return next(client for client in CLIENTS if client.name == name)
