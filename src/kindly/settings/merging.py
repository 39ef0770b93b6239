"""All sources merged: which value each variable has, and where it comes from."""

from collections.abc import Mapping
from pathlib import Path

from kindly.read.embedders import EMBEDDERS
from kindly.settings.options import OPTIONS
from kindly.settings.profile_catalogue import PROFILE_CHOICES, profile_defaults
from kindly.settings.sources import Value, config_path, from_environ, from_file
from kindly.settings.variables import (
    ENV_BY_FIELD,
    NEEDS,
    TOKEN_NAMES,
    URL_NAMES,
    known_names,
)


def merged_values(
    environ: Mapping[str, str], overrides: Mapping[str, object], config: Path | None
) -> dict[str, Value]:
    """The value of every variable that is set; a later source wins.

    Raises:
        SettingsError: a name is unknown, or the settings file cannot be read.
    """
    names = known_names()
    merged = from_file(config or config_path(environ), names, environ)
    merged |= from_environ(environ, names)
    merged |= {
        ENV_BY_FIELD[name].name: Value(value, "command line")
        for name, value in overrides.items()
        if value is not None
    }
    merged = {name: value for name, value in merged.items() if not _is_blank(name, value)}
    return _from_profile(merged) | _from_recording(merged) | merged


def _is_blank(name: str, value: Value) -> bool:
    """Whether it is a key or token without a character: that counts as none."""
    secrets = (option.name for option in OPTIONS if option.kind == "secret")
    return (
        name in {*NEEDS, *TOKEN_NAMES, *secrets}
        and isinstance(value.value, str)
        and not value.value.strip()
    )


def _from_profile(merged: Mapping[str, Value]) -> dict[str, Value]:
    """The defaults of the chosen profile; none for an unknown name, which validation reports."""
    chosen = merged.get(ENV_BY_FIELD["profile"].name)
    if chosen is None or chosen.value not in PROFILE_CHOICES:
        return {}
    defaults = profile_defaults(str(chosen.value)).beside(merged.keys())
    return {name: Value(value, "profile") for name, value in defaults.items()}


def _from_recording(merged: Mapping[str, Value]) -> dict[str, Value]:
    """The settings that a recording needs to be replayed, so that the user need not set them."""
    named = merged.get(ENV_BY_FIELD["cassette"].name)
    if named is None or not (path := Path(str(named.value)).expanduser()).exists():
        return {}
    from kindly.recording.recording_file import read_header

    recorded = read_header(path).get("settings", {})
    known = {*NEEDS, *URL_NAMES, ENV_BY_FIELD["allow_private"].name}
    known |= {
        option.name for spec in EMBEDDERS for option in spec.options if option.kind != "secret"
    }
    return {name: Value(value, "cassette") for name, value in recorded.items() if name in known}
