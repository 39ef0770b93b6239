"""Name, address and version of the package, and how its extras are installed: the one place where they are written."""

SERVER_NAME = "kindly-web-search-mcp-server"
REPOSITORY = "https://github.com/kindly-mcp/kindly"
__version__ = "0.2.0"


def uvx_command(extra: str) -> str:
    """The command that starts the server with an extra."""
    source = f"{SERVER_NAME}[{extra}] @ git+{REPOSITORY}"
    return f"uvx --from '{source}' {SERVER_NAME} start-mcp-server"


def pip_command(extra: str) -> str:
    """The command that installs an extra in the environment of this program."""
    return f"pip install '{SERVER_NAME}[{extra}]'"


def how_to_install(extra: str) -> str:
    """Both commands, as the end of a sentence."""
    return f"start Kindly with `{uvx_command(extra)}`, or run `{pip_command(extra)}`"
