"""The limits of each host application (MCP client)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from kindly.frozen import frozen

ContextName = Literal[
    "agent", "codex", "claude-code", "claude-desktop", "cursor", "vscode", "gemini-cli"
]


@frozen
class HostLimits:
    """The limits of a host: the size of an answer and the duration of a call."""

    max_tokens: int
    """The maximum size of an answer, whatever a call asks for."""
    deadline_s: float
    """The time limit of a call; it answers with what it has by then."""


CONTEXTS: Mapping[ContextName, HostLimits] = MappingProxyType(
    {
        "agent": HostLimits(max_tokens=100_000, deadline_s=50),
        # Codex gives a tool call 60 s and shows the model about 10,000 tokens of its answer.
        "codex": HostLimits(max_tokens=9_000, deadline_s=50),
        # Claude Code refuses answers above MAX_MCP_OUTPUT_TOKENS, 25,000 by default.
        "claude-code": HostLimits(max_tokens=20_000, deadline_s=55),
        # The desktop application drops a call after about 60 s.
        "claude-desktop": HostLimits(max_tokens=20_000, deadline_s=50),
        "cursor": HostLimits(max_tokens=20_000, deadline_s=50),
        "vscode": HostLimits(max_tokens=20_000, deadline_s=50),
        # Gemini CLI cuts tool output at 40,000 characters.
        "gemini-cli": HostLimits(max_tokens=9_000, deadline_s=50),
    }
)
