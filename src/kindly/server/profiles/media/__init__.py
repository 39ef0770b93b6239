"""Profile `media`: `WebSearch` and `WebFetch`."""

from typing import TYPE_CHECKING

from kindly.plugin_settings import Option
from kindly.server.profile_spec import ProfileSpec

if TYPE_CHECKING:
    from kindly.server.tool import Profile

SEARCH_ENABLED = Option(
    "WEB_SEARCH_ENABLED", "flag", "Offer `WebSearch` (profile media).", default=True
)
FETCH_ENABLED = Option(
    "WEB_FETCH_ENABLED", "flag", "Offer `WebFetch` (profile media).", default=True
)
DEFAULT_SAFE_SEARCH = Option(
    "KINDLY_DEFAULT_SAFE_SEARCH",
    "flag",
    "Safe search if a call does not set it (profile media).",
    default=True,
)
LENGTH_LIMIT = Option(
    "KINDLY_MAX_LENGTH",
    "integer",
    "Maximum of `maxLength` in characters (profile media).",
    default=100_000,
    low=1_000,
    high=10_000_000,
)


def _load() -> "Profile":
    from kindly.server.profiles.media.profile import PROFILE

    return PROFILE


SPEC = ProfileSpec(
    name="media",
    load=_load,
    options=(
        SEARCH_ENABLED,
        FETCH_ENABLED,
        DEFAULT_SAFE_SEARCH,
        LENGTH_LIMIT,
    ),
)
