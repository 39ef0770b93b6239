"""The names of all variables: those of the fields, and those that plugins declare."""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic.fields import FieldInfo

from kindly.fetch.loaders import LOADERS
from kindly.plugin_settings import Need
from kindly.search.providers import PROVIDERS
from kindly.settings.options import AllFields
from kindly.settings.sources import CONFIG_NAME, Names
from kindly.settings.values import Env


def _env_of(field: FieldInfo) -> Env | None:
    return next((item for item in field.metadata if isinstance(item, Env)), None)


ENV_BY_FIELD: Mapping[str, Env] = MappingProxyType(
    {
        name: env
        for name, field in AllFields.model_fields.items()
        if (env := _env_of(field)) is not None
    }
)
FIELD_VARIABLES = frozenset(env.name for env in ENV_BY_FIELD.values())
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
    aliases = {env.name: env.aliases for env in ENV_BY_FIELD.values() if env.aliases}
    return Names(frozenset(known), aliases)
