"""The catalogue of profiles: a module or package each, with a constant `PROFILE`, and its name in `PROFILE_NAMES`.

Only the chosen profile is imported. Settings read the names when they are imported, so this module imports nothing.
"""

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kindly.server.tool import Profile
    from kindly.settings import Settings

PROFILE_NAMES = ("kindly", "pages", "searxng", "media")
DEFAULT_PROFILE = PROFILE_NAMES[0]
"""It changes no default of a setting."""


def load_profile(name: str) -> "Profile":
    """Import the profile's module; the name must be in `PROFILE_NAMES`."""
    profile: Profile = import_module(f"{__name__}.{name}").PROFILE
    return profile


def all_profiles() -> "tuple[Profile, ...]":
    """Every profile, in the order of the catalogue."""
    return tuple(load_profile(name) for name in PROFILE_NAMES)


def profile_for(settings: "Settings") -> "Profile":
    """The chosen profile, with its tools as the settings configure them."""
    profile = load_profile(settings.profile)
    if profile.tools_for is None:
        return profile
    return replace(profile, tools=profile.tools_for(settings))
