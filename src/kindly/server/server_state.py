"""What the HTTP pages beside the MCP endpoint read: the tools on offer, and the app while it is open."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kindly.app import App
from kindly.frozen import frozen
from kindly.server.tool import Tool


class AppHolder:
    """Holds the app while the server's lifespan runs; calling it returns the app, or None outside the lifespan."""

    def __init__(self) -> None:
        self._app: App | None = None

    def __call__(self) -> App | None:
        return self._app

    @contextmanager
    def holding(self, app: App) -> Iterator[None]:
        """Hold `app` during the block."""
        self._app = app
        try:
            yield
        finally:
            self._app = None


@frozen
class ServerState:
    """One server's profile and tools, and access to its app."""

    profile: str
    tools: Mapping[str, Tool]
    """By the name that clients use."""
    current_app: Callable[[], App | None]
    """The app; None before it is opened and after it is closed."""
