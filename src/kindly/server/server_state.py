"""What the pages beside the MCP endpoint may look at: the tools on offer, and the app while it is open."""

from collections.abc import Mapping
from dataclasses import dataclass

from kindly.app import App
from kindly.server.tool import Tool


@dataclass(slots=True)
class ServerState:
    """One server's tools and its app."""

    profile: str
    tools: Mapping[str, Tool]
    """By the name that clients use."""
    app: App | None = None
    """None before it is opened and once it is being closed."""
