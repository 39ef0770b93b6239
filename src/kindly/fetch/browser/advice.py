"""What to run to get a browser: the commands that messages, `doctor` and the README name."""

from kindly.version import SERVER_NAME

REPOSITORY = "https://github.com/kindly-mcp/kindly"
EXTRA = f"{SERVER_NAME}[browser]"
WITH_UVX = f"uvx --from '{EXTRA} @ git+{REPOSITORY}' {SERVER_NAME} start-mcp-server"
WITH_PIP = f"pip install '{EXTRA}'"
DRIVER = f"start Kindly with `{WITH_UVX}`, or run `{WITH_PIP}`"
CHROMIUM = {"darwin": "brew install --cask chromium", "win32": "winget install Google.Chrome"}
ON_LINUX = "apt-get install chromium libatomic1"


def install_chromium(platform: str) -> str:
    """The command that installs a browser on a platform, which is named as in `sys.platform`."""
    return CHROMIUM.get(platform, ON_LINUX)
