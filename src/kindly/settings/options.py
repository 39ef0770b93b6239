"""The options that plugins declare, as fields of the settings."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SecretStr, create_model

from kindly.plugin_settings import Option
from kindly.read.embedders import EMBEDDERS
from kindly.search.providers import PROVIDERS
from kindly.settings.fields import SettingFields
from kindly.settings.profile_catalogue import PROFILES
from kindly.settings.values import BaseUrl, Env

TYPES: Mapping[str, Any] = MappingProxyType(
    {
        "secret": SecretStr,
        "text": str,
        "address": BaseUrl,
        "flag": bool,
        "integer": int,
        "number": float,
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


def field_type(option: Option[Any]) -> Any:
    """The type of the field, with its bounds and its variable."""
    kind = Literal[option.choices] if option.kind == "choice" else TYPES[option.kind]
    if option.default is None:
        kind = kind | None
    if option.kind == "text":
        bounds = Field(min_length=option.low, max_length=option.high)
    else:
        # An address may contain a password.
        bounds = Field(ge=option.low, le=option.high, repr=option.kind != "address")
    return Annotated[kind, bounds, Env(option.name, option.about)]


if TYPE_CHECKING:
    AllFields = SettingFields
else:
    AllFields = create_model(
        "AllFields",
        __base__=SettingFields,
        __doc__="The settings with one variable each.",
        __module__=__name__,
        **{option.field_name: (field_type(option), option.default) for option in OPTIONS},
    )
