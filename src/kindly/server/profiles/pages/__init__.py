"""Profile `pages`: `web.search` and `web.readFromPage`."""

from typing import TYPE_CHECKING, get_args

from kindly.models import SafeSearch
from kindly.plugin_settings import Option
from kindly.server.profile_spec import ProfileSpec

if TYPE_CHECKING:
    from kindly.server.tool import Profile

SAFE_SEARCH: Option[SafeSearch] = Option(
    "GOOGLE_SAFE_SEARCH",
    "choice",
    "The safe search of `web.search` if a call does not set it.",
    default="off",
    choices=get_args(SafeSearch),
)
ANY_PROVIDER = Option(
    "KINDLY_PAGES_ANY_PROVIDER",
    "flag",
    "Let any provider answer `web.search`, in Google's format.",
    default=False,
)


def _load() -> "Profile":
    from kindly.server.profiles.pages.profile import PROFILE

    return PROFILE


SPEC = ProfileSpec(
    name="pages",
    load=_load,
    options=(
        SAFE_SEARCH,
        ANY_PROVIDER,
    ),
)
