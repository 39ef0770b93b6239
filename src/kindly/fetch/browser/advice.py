"""What to run to get a browser: the commands that messages, `doctor` and the README name."""

from kindly.version import how_to_install, pip_command, uvx_command

EXTRA = "browser"
WITH_UVX = uvx_command(EXTRA)
WITH_PIP = pip_command(EXTRA)
DRIVER = how_to_install(EXTRA)
CHROMIUM = {"darwin": "brew install --cask chromium", "win32": "winget install Google.Chrome"}
ON_LINUX = "apt-get install chromium libatomic1"


def install_chromium(platform: str) -> str:
    """The command that installs a browser on a platform, which is named as in `sys.platform`."""
    return CHROMIUM.get(platform, ON_LINUX)
