"""The catalogue of profiles: named sets of tools. The first one is the default.

A profile is a module or a package in this folder with the constant `SPEC`, and its line in `PROFILES`. Settings read
the specs when they are imported; the tools are imported for the chosen profile only.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from kindly.server.profile_spec import ProfileSpec
from kindly.server.profiles import kindly, media, pages, searxng

if TYPE_CHECKING:
    from kindly.server.tool import Profile
    from kindly.settings import Settings

PROFILES: tuple[ProfileSpec, ...] = (
    kindly.SPEC,
    pages.SPEC,
    searxng.SPEC,
    media.SPEC,
)
PROFILE_NAMES = tuple(spec.name for spec in PROFILES)
DEFAULT_PROFILE = PROFILE_NAMES[0]
"""It changes no default of a setting."""


def load_profile(name: str) -> "Profile":
    """The profile of this name."""
    return next(spec for spec in PROFILES if spec.name == name).load()


def all_profiles() -> "tuple[Profile, ...]":
    """Every profile, in the order of the catalogue."""
    return tuple(spec.load() for spec in PROFILES)


def profile_for(settings: "Settings") -> "Profile":
    """The chosen profile, with its tools as the settings configure them."""
    profile = load_profile(settings.profile)
    if profile.tools_for is None:
        return profile
    return replace(profile, tools=profile.tools_for(settings))
