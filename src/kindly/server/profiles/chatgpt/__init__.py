"""Profile `chatgpt`: `search` and `fetch`, as ChatGPT's connectors and deep research require them."""

from typing import TYPE_CHECKING

from kindly.server.profile_spec import ProfileSpec

if TYPE_CHECKING:
    from kindly.server.tool import Profile


def _load() -> "Profile":
    from kindly.server.profiles.chatgpt.profile import PROFILE

    return PROFILE


SPEC = ProfileSpec(
    name="chatgpt",
    load=_load,
)
