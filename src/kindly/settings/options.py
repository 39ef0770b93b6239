"""The options that plugins declare, as fields of the settings."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kindly.plugin_settings import Option
from kindly.read.embedders import EMBEDDERS
from kindly.search.providers import PROVIDERS
from kindly.settings.fields import SettingFields
from kindly.settings.profile_catalogue import PROFILES
from kindly.settings.values import (
    BASE_URL,
    FLAG,
    SECRET,
    Kind,
    Setting,
    integer,
    number,
    one_of,
    text,
)

KINDS: Mapping[str, Callable[[Option[Any]], Kind[Any]]] = MappingProxyType(
    {
        "secret": lambda _: SECRET,
        "text": lambda option: text(option.low, option.high),
        "address": lambda _: BASE_URL,
        "flag": lambda _: FLAG,
        "integer": lambda option: integer(option.low, option.high),
        "number": lambda option: number(option.low, option.high),
        "choice": lambda option: one_of(option.choices),
    }
)


def _declared() -> Iterator[Option[Any]]:
    for provider in PROVIDERS:
        yield from provider.options
    for embedder in EMBEDDERS:
        yield from embedder.options
    for profile in PROFILES:
        yield from profile.options


OPTIONS: tuple[Option[Any], ...] = tuple(_declared())
"""What providers, embedders and profiles declare."""


def as_setting(option: Option[Any]) -> Setting[Any]:
    """An option as a field of the settings."""
    return Setting(option.name, option.about, KINDS[option.kind](option), default=option.default)


if TYPE_CHECKING:
    AllFields = SettingFields
else:
    AllFields = type(
        "AllFields",
        (SettingFields,),
        {
            "__doc__": "The settings with one variable each.",
            "__module__": __name__,
            "__slots__": (),
            **{option.field_name: as_setting(option) for option in OPTIONS},
        },
    )
