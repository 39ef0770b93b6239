"""What each host application bears, and what each profile takes for granted."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

ContextName = Literal[
    "agent", "codex", "claude-code", "claude-desktop", "cursor", "vscode", "gemini-cli"
]
ProfileName = Literal["kindly"]


@dataclass(frozen=True, slots=True)
class Host:
    """What a host application bears: the size of an answer and the length of a call."""

    max_tokens: int
    """An answer is never larger, whatever a call asks for."""
    deadline_s: float
    """A call answers before this, with what it has by then."""


CONTEXTS: Mapping[ContextName, Host] = MappingProxyType(
    {
        "agent": Host(max_tokens=100_000, deadline_s=50),
        # Codex gives a tool call 60 s and shows the model about 10,000 tokens of its answer.
        "codex": Host(max_tokens=9_000, deadline_s=50),
        # Claude Code refuses answers above MAX_MCP_OUTPUT_TOKENS, 25,000 by default.
        "claude-code": Host(max_tokens=20_000, deadline_s=55),
        # The desktop application drops a call after about 60 s.
        "claude-desktop": Host(max_tokens=20_000, deadline_s=50),
        "cursor": Host(max_tokens=20_000, deadline_s=50),
        "vscode": Host(max_tokens=20_000, deadline_s=50),
        # Gemini CLI cuts tool output at 40,000 characters.
        "gemini-cli": Host(max_tokens=9_000, deadline_s=50),
    }
)

PROFILE_DEFAULTS: Mapping[ProfileName, Mapping[str, object]] = MappingProxyType({"kindly": {}})
"""What is set, by the name of its variable, where nobody sets it: defaults that a profile's own contract names."""
