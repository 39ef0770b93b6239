"""Profile `searxng`: `web_search` over SearXNG."""

from typing import TYPE_CHECKING

from kindly.plugin_settings import Option
from kindly.server.profile_spec import ProfileSpec

if TYPE_CHECKING:
    from kindly.server.tool import Profile

SUMMARIES = Option(
    "KINDLY_SUMMARIES", "flag", "Summarise each page (profile searxng).", default=True
)
SUMMARY_CHARACTERS = Option(
    "KINDLY_SUMMARY_CHARACTERS",
    "integer",
    "Maximum characters of a summary (profile searxng).",
    default=500,
    low=50,
    high=5_000,
)
CODE_BLOCKS = Option(
    "KINDLY_CODE_BLOCKS", "flag", "Keep code blocks in the text (profile searxng).", default=True
)


def _load() -> "Profile":
    from kindly.server.profiles.searxng.profile import PROFILE

    return PROFILE


SPEC = ProfileSpec(
    name="searxng",
    load=_load,
    options=(
        SUMMARIES,
        SUMMARY_CHARACTERS,
        CODE_BLOCKS,
    ),
)
