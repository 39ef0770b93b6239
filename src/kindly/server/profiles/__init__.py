"""The profiles that can be offered, by name: a file each."""

from dataclasses import replace

from kindly.server.profiles.kindly import PROFILE as KINDLY
from kindly.server.profiles.media.profile import PROFILE as MEDIA
from kindly.server.profiles.pages import PROFILE as PAGES
from kindly.server.profiles.searxng.profile import PROFILE as SEARXNG
from kindly.server.tool import Profile
from kindly.settings import Settings

PROFILES: tuple[Profile, ...] = (KINDLY, PAGES, SEARXNG, MEDIA)


def profile_for(settings: Settings) -> Profile:
    """The chosen profile, its tools as settings make them."""
    profile = next(profile for profile in PROFILES if profile.name == settings.profile)
    if profile.tools_for is None:
        return profile
    return replace(profile, tools=profile.tools_for(settings))
