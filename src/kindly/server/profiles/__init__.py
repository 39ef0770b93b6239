"""The catalogue of profiles: named sets of tools. The first one is the default.

A profile is a module or a package in this folder with the constant `SPEC`, and its line in `PROFILES`. Settings read
the specs when they are imported; the tools are imported for the chosen profile only.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kindly.plugin_settings import Option
from kindly.server.profile_spec import ProfileSpec
from kindly.server.profiles import chatgpt, kindly, library, media, pages, searxng

if TYPE_CHECKING:
    from kindly.server.tool import Profile
    from kindly.settings import Settings

PROFILES: tuple[ProfileSpec, ...] = (
    kindly.SPEC,
    pages.SPEC,
    searxng.SPEC,
    media.SPEC,
    chatgpt.SPEC,
    library.SPEC,
)
PROFILE_NAMES = tuple(spec.name for spec in PROFILES)
DEFAULT_PROFILE = PROFILE_NAMES[0]
"""It changes no default of a setting."""
PROFILE_CHOICES = PROFILE_NAMES + tuple(
    f"{base.name},{added.name}"
    for added in PROFILES
    if added.is_addition
    for base in PROFILES
    if base.takes_additions
)
"""What `KINDLY_PROFILE` can be: a profile, or one with another added."""


def why_not_combined(name: str) -> str:
    """Why profiles cannot be combined as `name` says; empty if they can, or if it names none of them."""
    base, *added = name.split(",")
    if name in PROFILE_CHOICES or not added or not {base, *added} <= set(PROFILE_NAMES):
        return ""
    possible = ", ".join(choice for choice in PROFILE_CHOICES if "," in choice)
    if not spec_for(base).takes_additions and not spec_for(base).is_addition:
        return f"profile {base} offers exactly the tools of its contract and takes no others; use {possible}"
    return f"profiles can only be combined as {possible}"


def spec_for(name: str) -> ProfileSpec:
    """The spec of the profile of this name."""
    return next(spec for spec in PROFILES if spec.name == name)


def options_of(name: str) -> tuple[Option[Any], ...]:
    """The settings that only the profiles of this choice use."""
    return tuple(option for part in name.split(",") for option in spec_for(part).options)


def load_profile(name: str) -> "Profile":
    """The profile of this name, or several as one."""
    return _combined([spec_for(part).load() for part in name.split(",")])


def _combined(profiles: "Sequence[Profile]") -> "Profile":
    """One profile with the tools of all; the first one decides defaults, and a tool of the same name is its own."""
    first, *others = profiles
    if not others:
        return first
    tools = {tool.name: tool for one in reversed(profiles) for tool in one.tools}
    order = dict.fromkeys(tool.name for one in profiles for tool in one.tools)
    return replace(
        first,
        name=",".join(one.name for one in profiles),
        instructions=" ".join(one.instructions for one in profiles),
        tools=tuple(tools[name] for name in order),
        start=next((one.start for one in profiles if one.start is not None), None),
    )


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
    return _combined([_configured(part, settings) for part in settings.profile.split(",")])


def _configured(name: str, settings: "Settings") -> "Profile":
    profile = spec_for(name).load()
    if profile.tools_for is None:
        return profile
    return replace(profile, tools=profile.tools_for(settings))
