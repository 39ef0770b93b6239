"""The names of all variables: those of the fields, and those that plugins declare."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kindly.fetch.loaders import LOADERS
from kindly.plugin_settings import Need
from kindly.search.providers import PROVIDERS
from kindly.settings.options import AllFields
from kindly.settings.sources import CONFIG_NAME, Names
from kindly.settings.values import Setting

ENV_BY_FIELD: Mapping[str, Setting[Any]] = MappingProxyType(
    {
        name: setting
        for declared in reversed(AllFields.__mro__)
        for name, setting in vars(declared).items()
        if isinstance(setting, Setting)
    }
)
"""The settings with one variable each, by the names of their fields."""
FIELD_VARIABLES = frozenset(setting.name for setting in ENV_BY_FIELD.values())
NEEDS: Mapping[str, Need] = MappingProxyType(
    {need.name: need for spec in PROVIDERS for need in spec.needs}
)
"""What search providers need."""
KEY_NAMES = tuple(name for name, need in NEEDS.items() if need.kind == "secret")
TOKEN_NEEDS = tuple(need for loader in LOADERS for need in loader.tokens)
"""What loaders can use."""
TOKEN_NAMES = tuple(need.name for need in TOKEN_NEEDS)
LOADER_URLS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {f"KINDLY_{name}": (name, default) for loader in LOADERS for name, default in loader.base_urls}
)
"""Variable → the loader's own name for the address, and its default."""
URL_NAMES = (
    *(spec.base_url_setting for spec in PROVIDERS if spec.base_url_setting),
    *LOADER_URLS,
)


def known_names() -> Names:
    """Every variable and its aliases."""
    known = FIELD_VARIABLES | {*NEEDS, *URL_NAMES, *TOKEN_NAMES, CONFIG_NAME}
    aliases = {one.name: one.aliases for one in ENV_BY_FIELD.values() if one.aliases}
    return Names(frozenset(known), aliases)
