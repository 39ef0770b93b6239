"""Profile `kindly`: `web_search`, `get_content`, `read_page` and `recall`."""

from typing import TYPE_CHECKING

from kindly.server.profile_spec import ProfileSpec

if TYPE_CHECKING:
    from kindly.server.tool import Profile


def _load() -> "Profile":
    from kindly.server.profiles.kindly.profile import PROFILE

    return PROFILE


SPEC = ProfileSpec(
    name="kindly",
    load=_load,
    takes_additions=True,
)
