"""The catalogue of profiles, as settings use it: the only part of `server` that they know."""

from typing import TYPE_CHECKING, Literal

from kindly.plugin_settings import ProfileDefaults
from kindly.server.profiles import DEFAULT_PROFILE, PROFILE_NAMES, PROFILES, load_profile

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "PROFILE_NAMES",
    "ProfileName",
    "profile_defaults",
]

if TYPE_CHECKING:
    ProfileName = str
else:
    ProfileName = Literal[PROFILE_NAMES]


def profile_defaults(name: str) -> ProfileDefaults:
    """The defaults of the profile `name`.

    The default profile changes nothing, so its tools are not imported for this.
    """
    return ProfileDefaults() if name == DEFAULT_PROFILE else load_profile(name).defaults
