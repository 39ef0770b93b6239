"""The profiles that can be offered, by name: a file each."""

from dataclasses import replace

from kindly.server.profiles import kindly, media, pages, searxng
from kindly.server.tool import Profile
from kindly.settings import Settings

PROFILES: tuple[Profile, ...] = (kindly.PROFILE, pages.PROFILE, searxng.PROFILE, media.PROFILE)


def profile_for(settings: Settings) -> Profile:
    """The chosen profile, its tools as settings make them."""
    profile = next(profile for profile in PROFILES if profile.name == settings.profile)
    if profile.tools_for is None:
        return profile
    return replace(profile, tools=profile.tools_for(settings))
