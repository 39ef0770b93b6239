"""Every setting, read once at start: defaults < profile < file < environment < command line.

`Settings.load` returns one frozen `Settings`; `SettingsError` names an unknown or invalid value in one line. What a
setting does is written beside it in `fields` or in the spec of a plugin; the table in `docs/settings.md` is generated
from that.
"""

from kindly.settings.contexts import CONTEXTS, ContextName
from kindly.settings.environment import limit_numeric_threads
from kindly.settings.profile_catalogue import ProfileName, why_not_combined
from kindly.settings.settings import Settings, revealed
from kindly.settings.variables import (
    ENV_BY_FIELD,
    KEY_NAMES,
    LOADER_URLS,
    NEEDS,
    TOKEN_NAMES,
    TOKEN_NEEDS,
)

__all__ = [
    "CONTEXTS",
    "ENV_BY_FIELD",
    "KEY_NAMES",
    "LOADER_URLS",
    "NEEDS",
    "TOKEN_NAMES",
    "TOKEN_NEEDS",
    "ContextName",
    "ProfileName",
    "Settings",
    "limit_numeric_threads",
    "revealed",
    "why_not_combined",
]
