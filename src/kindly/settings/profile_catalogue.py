"""The catalogue of profiles, as settings use it: the only part of `server` that they know."""

from typing import TYPE_CHECKING, Literal

from kindly.plugin_settings import ProfileDefaults
from kindly.server.profiles import (
    DEFAULT_PROFILE,
    PROFILE_CHOICES,
    PROFILE_NAMES,
    PROFILES,
    load_profile,
    why_not_combined,
)

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "PROFILE_CHOICES",
    "PROFILE_NAMES",
    "ProfileName",
    "profile_defaults",
    "why_not_combined",
]

if TYPE_CHECKING:
    ProfileName = str
else:
    ProfileName = Literal[PROFILE_CHOICES]


def profile_defaults(name: str) -> ProfileDefaults:
    """The defaults of the profile `name`.

    The default profile changes nothing, so its tools are not imported for this.
    """
    base = name.partition(",")[0]
    return ProfileDefaults() if base == DEFAULT_PROFILE else load_profile(base).defaults
