"""The sources of values: a settings file and the environment."""

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from kindly.errors import SettingsError
from kindly.frozen import frozen
from kindly.settings.file_tables import TABLES, Unusable, translate

Origin = Literal["default", "profile", "cassette", "file", "environment", "command line"]

CONFIG_NAME = "KINDLY_CONFIG"


@frozen
class Value:
    """The value of a variable and its source."""

    value: object
    origin: Origin
    written: str = ""
    """The name that the user wrote, if it is not the variable's."""


@frozen
class Names:
    """All variables and their aliases."""

    known: frozenset[str]
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def suggestion(self, name: str) -> str:
        """The most similar name, or where all names are documented."""
        from difflib import get_close_matches

        by_stem = {known.removeprefix("KINDLY_"): known for known in sorted(self.known)}
        near = get_close_matches(name.upper().removeprefix("KINDLY_"), by_stem, n=1)
        if not near:
            return " See docs/settings.md for all settings."
        return f" Did you mean {by_stem[near[0]]}?"


def config_path(environ: Mapping[str, str]) -> Path | None:
    """The settings file in `KINDLY_CONFIG`, else the default one if it exists."""
    if named := environ.get(CONFIG_NAME):
        return Path(named).expanduser()
    from platformdirs import user_config_path

    default = user_config_path("kindly", appauthor=False) / "config.toml"
    return default if default.is_file() else None


def from_file(
    path: Path | None, names: Names, environ: Mapping[str, str] | None = None
) -> dict[str, Value]:
    """Values of a TOML or JSON file: variables in lower case, with or without `kindly_`, and `file_tables`.

    `environ` has the values for `${VAR}` in those tables.
    """
    if path is None:
        return {}
    found: dict[str, Value] = {}
    for key, value in _table(path).items():
        if key in TABLES:
            values = from_table(key, value, path, environ or {})
        else:
            values = {_variable(key, path, names): Value(value, "file")}
        for name in found.keys() & values.keys():
            raise SettingsError(f"{name} is set twice in {path}: remove one.")
        found |= values
    return found


def from_table(
    name: str, table: object, path: Path, environ: Mapping[str, str]
) -> dict[str, Value]:
    """Values of one table with the names of another product."""
    try:
        translated = list(translate(name, table, environ))
    except Unusable as error:
        raise SettingsError(f"{error} (in {path})") from None
    return {one.variable: Value(one.value, "file", one.written) for one in translated}


def _table(path: Path) -> Mapping[str, object]:
    import tomllib

    is_json = path.suffix.lower() == ".json"
    try:
        text = path.read_text(encoding="utf-8")
        table: object = json.loads(text) if is_json else tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        kind = "JSON" if is_json else "TOML"
        raise SettingsError(f"The settings file {path} is not valid {kind}: {error}.") from None
    if not isinstance(table, dict):
        raise SettingsError(f"The settings file {path} must contain an object.")
    return table


def _variable(key: str, path: Path, names: Names) -> str:
    upper = key.upper()
    for name in (upper, f"KINDLY_{upper}"):
        if name in names.known:
            return name
    raise SettingsError(f"Unknown setting {key!r} in {path}.{names.suggestion(upper)}")


def from_environ(environ: Mapping[str, str], names: Names) -> dict[str, Value]:
    """Values of the environment; blank ones count as not set.

    Raises:
        SettingsError: a name that starts with `KINDLY_` is unknown.
    """
    for name in environ:
        if name.startswith("KINDLY_") and name not in names.known:
            raise SettingsError(
                f"Unknown setting {name} in the environment.{names.suggestion(name)}"
            )
    found = {
        name: Value(environ[name], "environment")
        for name in names.known
        if environ.get(name, "").strip()
    }
    for name, aliases in names.aliases.items():
        for alias in aliases:
            if environ.get(alias, "").strip() and name not in found:
                found[name] = Value(environ[alias], "environment")
    return found
