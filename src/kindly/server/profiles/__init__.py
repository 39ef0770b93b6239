"""The catalogue of profiles: named sets of tools. The first one is the default.

A profile is a module or a package in this folder with the constant `SPEC`, and its line in `PROFILES`. Settings read
the specs when they are imported; the tools are imported for the chosen profile only.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kindly.server.profile_spec import ProfileSpec
from kindly.server.profiles import chatgpt, kindly, media, pages, searxng

if TYPE_CHECKING:
    from kindly.server.tool import Profile
    from kindly.settings import Settings

PROFILES: tuple[ProfileSpec, ...] = (
    kindly.SPEC,
    pages.SPEC,
    searxng.SPEC,
    media.SPEC,
    chatgpt.SPEC,
)
PROFILE_NAMES = tuple(spec.name for spec in PROFILES)
DEFAULT_PROFILE = PROFILE_NAMES[0]
"""It changes no default of a setting."""


def spec_for(name: str) -> ProfileSpec:
    """The spec of the profile of this name."""
    return next(spec for spec in PROFILES if spec.name == name)


def load_profile(name: str) -> "Profile":
    """The profile of this name."""
    return spec_for(name).load()


def answers_file(name: str) -> Path:
    """Where the answers of a profile are that are sent before its tools are imported."""
    return Path(__file__).parent / name / "early_answers.json"


def load_answers(name: str, *, plain_names: bool) -> dict[str, Any] | None:
    """Those answers by era, protocol version and method; None if the profile has none on file."""
    file = answers_file(name)
    if not file.is_file():
        return None
    known = json.loads(file.read_text(encoding="utf-8"))
    by_era: dict[str, Any] = known["plain" if plain_names else "own"]
    for by_version in by_era.values():
        for by_method in by_version.values():
            by_method |= {method: known["results"][n] for method, n in by_method.items()}
    return by_era


def all_profiles() -> "tuple[Profile, ...]":
    """Every profile, in the order of the catalogue."""
    return tuple(spec.load() for spec in PROFILES)


def profile_for(settings: "Settings") -> "Profile":
    """The chosen profile, with its tools as the settings configure them."""
    profile = load_profile(settings.profile)
    if profile.tools_for is None:
        return profile
    return replace(profile, tools=profile.tools_for(settings))
