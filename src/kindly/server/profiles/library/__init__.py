"""Profile `library`: `recall`, `index`, `collections`, `changes` and `verify`; it can be added to another profile."""

from typing import TYPE_CHECKING

from kindly.server.profile_spec import ProfileSpec

if TYPE_CHECKING:
    from kindly.server.tool import Profile


def _load() -> "Profile":
    from kindly.server.profiles.library.profile import PROFILE

    return PROFILE


SPEC = ProfileSpec(name="library", load=_load, is_addition=True)
