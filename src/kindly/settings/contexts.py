"""What each host application bears, and what each profile takes for granted."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal

from kindly.search.providers import PROVIDERS

ContextName = Literal[
    "agent", "codex", "claude-code", "claude-desktop", "cursor", "vscode", "gemini-cli"
]
ProfileName = Literal["kindly", "pages", "searxng", "media"]


@dataclass(frozen=True, slots=True)
class HostLimits:
    """What a host application bears: the size of an answer and the length of a call."""

    max_tokens: int
    """An answer is never larger, whatever a call asks for."""
    deadline_s: float
    """A call answers before this, with what it has by then."""


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


def first_of_all(name: str) -> list[str]:
    """All providers, this one before the others."""
    return [name, *(spec.name for spec in PROVIDERS if spec.name != name)]


PROFILE_DEFAULTS: Mapping[ProfileName, Mapping[str, object]] = MappingProxyType(
    {
        "kindly": {},
        "pages": {
            "KINDLY_PROVIDERS": first_of_all("google"),
            "REQUEST_TIMEOUT_MS": 20_000,
            "CONCURRENCY": 2,
            "RESPECT_ROBOTS_TXT": False,
            **({"KINDLY_STORE": "duckdb"} if find_spec("duckdb") else {}),
        },
        "searxng": {
            "KINDLY_PROVIDERS": ["searxng", "searxng_pool"],
            "KINDLY_SEARXNG_POOL": "1",
            "KINDLY_SEARCH_TIMEOUT_S": 30,
            "REQUEST_TIMEOUT_MS": 45_000,
            "CONCURRENCY": 5,
            # No history: neither read pages nor their addresses outlive the program.
            "KINDLY_STORE": "memory",
            "KINDLY_CACHE_ON_DISK": False,
        },
        "media": {
            "KINDLY_PROVIDERS": first_of_all("brave"),
            "KINDLY_SEARCHES_PER_MINUTE": 30,
            "KINDLY_BROWSER": "off",
        },
    }
)
"""What is set, by the name of its variable, where nobody sets it: defaults that a profile's own contract names."""

YIELDS_TO: Mapping[str, str] = MappingProxyType({"KINDLY_SEARXNG_POOL": "SEARXNG_BASE_URL"})
"""A profile's default → the variable that makes it needless: who has his own SearXNG wants no stranger's."""


def profile_defaults(profile: object, given: Collection[str]) -> dict[str, object]:
    """The defaults of a profile, beside the variables that are given; none for a profile that does not exist."""
    taken = next((taken for name, taken in PROFILE_DEFAULTS.items() if name == profile), {})
    return {name: value for name, value in taken.items() if YIELDS_TO.get(name) not in given}
