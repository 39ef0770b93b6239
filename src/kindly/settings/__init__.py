"""Every setting, read once at start: defaults < profile < file < environment < command line.

The only reader of the environment. Out comes one frozen `Settings`; a value that is wrong or unknown is named in one
line by `SettingsError`. What a setting does is said beside it in `fields`; `docs/settings.md` is checked against it.
"""

import os
from collections.abc import Iterator, Mapping, MutableMapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from kindly.concurrency.blas import THREAD_VARIABLES
from kindly.errors import SettingsError
from kindly.fetch.loaders import LOADERS
from kindly.read.embedders import EMBEDDERS, embedder_for
from kindly.read.specs import EmbedderSpec, StoreSpec
from kindly.read.stores import IN_MEMORY, store_for
from kindly.recording import recording_file
from kindly.search.provider import Need, ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.settings.contexts import (
    CONTEXTS,
    ContextName,
    HostLimits,
)
from kindly.settings.fields import SettingFields
from kindly.settings.profile_defaults import (
    PROFILE_NAMES,
    ProfileDefaults,
    ProfileName,
    profile_defaults,
)
from kindly.settings.sources import (
    CONFIG_NAME,
    Names,
    Origin,
    Value,
    config_path,
    from_environ,
    from_file,
)
from kindly.settings.values import BaseUrl, Env

__all__ = [
    "CONTEXTS",
    "ENV_BY_FIELD",
    "LOADER_URLS",
    "ContextName",
    "Host",
    "ProfileName",
    "Settings",
    "revealed",
    "spare_threads",
]


class Settings(SettingFields):
    """All that a user can set, validated and frozen; secrets are masked in its repr."""

    needed: Mapping[str, SecretStr] = Field(default_factory=dict)
    """What providers need, keys above all, by the name of the variable."""
    base_urls: Mapping[str, BaseUrl] = Field(default_factory=dict, repr=False)
    """Addresses that differ from the vendor's, of providers and loaders, by the name of their variable."""
    tokens: Mapping[str, SecretStr] = Field(default_factory=dict)
    """Tokens that loaders can use, by the name of their variable."""

    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)
    _environ: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def hosting(self) -> HostLimits:
        """The answer size and deadline in force: the context's, narrowed by what is set."""
        host = CONTEXTS[self.context]
        return HostLimits(host.max_tokens, self.deadline_s or host.deadline_s)

    @property
    def default_tokens(self) -> int:
        """Tokens of an answer when a call does not ask for another size."""
        return min(self.max_tokens, self.hosting.max_tokens)

    @property
    def profile_defaults(self) -> ProfileDefaults:
        """What the chosen profile decides below its tools."""
        return profile_defaults(self.profile)

    @property
    def data_path(self) -> Path:
        """Where this user's pages are kept."""
        if self.data_dir is not None:
            return self.data_dir.expanduser()
        from platformdirs import user_data_path

        return user_data_path("kindly", appauthor=False)

    @property
    def keeps(self) -> bool:
        """Whether anything is kept on disk; beside a cassette nothing is, so that it holds all there is."""
        return self.cassette is None

    @property
    def for_replay(self) -> Mapping[str, str]:
        """The settings that a cassette needs to be replayed; every secret is replaced by a name for it."""
        specs = [spec for spec in self.configured() if spec.library is None]
        values = {
            need.name: REPLAYED if need.kind == "secret" else revealed(self.needed[need.name]) or ""
            for spec in specs
            for need in spec.needs
        }
        values |= self.base_urls
        if self.embedding_server_url:
            values["EMBEDDING_SERVER_URL"] = self.embedding_server_url
            values["EMBEDDING_MODEL_NAME"] = self.embedding_model_name
        if self.allow_private:
            values["KINDLY_ALLOW_PRIVATE"] = ",".join(self.allow_private)
        return values

    @property
    def store_spec(self) -> StoreSpec:
        """The store of the library; in memory if nothing may be kept."""
        return (store_for(self.store.get_secret_value()) if self.keeps else None) or IN_MEMORY

    @property
    def embedder_spec(self) -> EmbedderSpec:
        """The embedder in use."""
        return embedder_for(self.embedder_values)

    @property
    def embedder_values(self) -> Mapping[str, SecretStr]:
        """The settings of embedders that are set, by the name of their variable."""
        declared = {
            spec.setting.name: self.needed[spec.setting.name]
            for spec in EMBEDDERS
            if spec.setting and spec.setting.name in self.needed
        }
        if self.embedding_server_url is not None:
            declared["EMBEDDING_SERVER_URL"] = SecretStr(self.embedding_server_url)
        if self.embedding_server_api_key is not None:
            declared["EMBEDDING_SERVER_API_KEY"] = self.embedding_server_api_key
        return declared

    @property
    def search_file(self) -> Path:
        """Where the state of search is kept if servers do not share it."""
        return self.data_path / "search.sqlite"

    @property
    def pages_file(self) -> Path | None:
        """Where the page cache is kept; None, in memory."""
        kept = self.cache_on_disk and self.cache_mb and self.keeps
        return self.data_path / "pages.sqlite" if kept else None

    @property
    def child_environ(self) -> Mapping[str, str]:
        """The environment as it was at start, for child processes to be given a part of."""
        return MappingProxyType(self._environ)

    def origin(self, name: str) -> Origin:
        """Where the value of the variable `name` came from."""
        return self._origins.get(name, "default")

    def secrets(self) -> tuple[str, ...]:
        """Every value that must never be shown."""
        keys = (self.needed[name] for name in KEY_NAMES if name in self.needed)
        tokens = (*keys, *self.tokens.values())
        own = (self.http_proxy, self.https_proxy, self.embedding_server_api_key)
        shown = [secret.get_secret_value() for secret in (*own, *tokens) if secret]
        store = self.store.get_secret_value()
        parts = (store, urlsplit(store).password or "") if "://" in store else ()
        callers = (revealed(self.http_token) or "").split()
        return (*callers, *shown, *parts, *self._passwords())

    def _passwords(self) -> Iterator[str]:
        """What stands before the @ of an address, alone and as basic authentication sends it."""
        addresses = [*self.base_urls.values()]
        addresses += [self.embedding_server_url or "", self.otel_endpoint or ""]
        proxies = (self.http_proxy, self.https_proxy)
        addresses += [
            secret.get_secret_value() for secret in (*self.needed.values(), *proxies) if secret
        ]
        for address in (part for text in addresses for part in text.split(",")):
            user, _, host = address.strip().partition("://")[2].rpartition("@")
            if host and user:
                name, _, password = user.partition(":")
                yield from (
                    user,
                    password,
                    unquote(password),
                    f"{unquote(name)}:{unquote(password)}",
                )

    def configured(self) -> tuple[ProviderSpec, ...]:
        """The providers that have all they need, in the order in which they are asked."""
        ready = [spec for spec in PROVIDERS if all(need.name in self.needed for need in spec.needs)]
        if not self.keeps:
            ready = [spec for spec in ready if spec.library is None]
        allowed = self.profile_defaults.allowed_providers(self)
        if allowed is not None:
            ready = [spec for spec in ready if spec.name in allowed]
        if not self.providers:
            return tuple(ready)
        return tuple(
            sorted(
                (spec for spec in ready if spec.name in self.providers),
                key=lambda spec: self.providers.index(spec.name),
            )
        )

    @classmethod
    def load(
        cls,
        environ: Mapping[str, str] | None = None,
        overrides: Mapping[str, object] | None = None,
        config: Path | None = None,
    ) -> Self:
        """Read every source. `overrides` are command line options by field name, `None` meaning not given.

        Raises:
            SettingsError: a value is wrong or unknown; the text names it, its source and the fix.
        """
        environ = dict(os.environ if environ is None else environ)
        names = _names()
        merged: dict[str, Value] = from_file(config or config_path(environ), names, environ)
        merged |= from_environ(environ, names)
        merged |= {
            ENV_BY_FIELD[name].name: Value(value, "command line")
            for name, value in (overrides or {}).items()
            if value is not None
        }
        merged = _profile_defaults(merged) | _cassette(merged) | merged
        settings = cls._validated(merged)
        settings._origins.update({name: value.origin for name, value in merged.items()})
        settings._environ = environ
        return settings

    @classmethod
    def replaying(cls, cassette: Path, environ: Mapping[str, str]) -> Self:
        """Settings under which a cassette alone answers: what else is set does not count.

        `environ` is what child processes are given.

        Raises:
            SettingsError: the file is no cassette.
        """
        names = _names()
        known = {*names.known, *(alias for names in names.aliases.values() for alias in names)}
        plain = {name: value for name, value in environ.items() if name not in known}
        return cls.load({**plain, "KINDLY_CASSETTE": str(cassette), CONFIG_NAME: os.devnull})

    @classmethod
    def _validated(cls, merged: Mapping[str, "Value"]) -> Self:
        fields: dict[str, object] = {
            field: merged[env.name].value
            for field, env in ENV_BY_FIELD.items()
            if env.name in merged
        }
        needed = {name: _needed(name, merged[name]) for name in PLUGIN_NEEDS if name in merged}
        fields["needed"] = {name: text for name, text in needed.items() if text is not None}
        fields["base_urls"] = {name: merged[name].value for name in URL_NAMES if name in merged}
        fields["tokens"] = {name: merged[name].value for name in TOKEN_NAMES if name in merged}
        try:
            settings = cls.model_validate(fields)
        except ValidationError as error:
            raise SettingsError(_first_problem(error, merged)) from None
        _check_providers(settings.providers)
        _check_libraries(settings.configured())
        return settings


REPLAYED = "replayed-from-a-cassette"
"""Stands for a key where no network is asked."""
REPLAYED_FIELDS = ("embedding_server_url", "embedding_model_name", "allow_private")


def revealed(secret: SecretStr | None) -> str | None:
    """The plain value, for the one who needs it now."""
    return secret.get_secret_value() if secret else None


def spare_threads(environ: MutableMapping[str, str] = os.environ) -> None:
    """Keep libraries for numbers from sharing one call among threads: calls are what runs side by side here.

    For the start of a program, before they are loaded. A number that the user has set stays.
    """
    for name in THREAD_VARIABLES:
        environ.setdefault(name, "1")


def _env_of(field: FieldInfo) -> Env | None:
    return next((item for item in field.metadata if isinstance(item, Env)), None)


ENV_BY_FIELD: Mapping[str, Env] = MappingProxyType(
    {
        name: env
        for name, field in Settings.model_fields.items()
        if (env := _env_of(field)) is not None
    }
)
NEEDS: Mapping[str, Need] = MappingProxyType(
    {need.name: need for spec in PROVIDERS for need in spec.needs}
)
"""What search providers need."""
PLUGIN_NEEDS: Mapping[str, Need] = MappingProxyType(
    {
        **NEEDS,
        **{
            spec.setting.name: spec.setting
            for spec in EMBEDDERS
            if spec.setting and spec.setting.name not in {env.name for env in ENV_BY_FIELD.values()}
        },
    }
)
"""What plugins declare beyond the fields of `Settings`."""
KEY_NAMES = tuple(name for name, need in PLUGIN_NEEDS.items() if need.kind == "secret")
LOADER_URLS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {f"KINDLY_{name}": (name, default) for loader in LOADERS for name, default in loader.base_urls}
)
"""Variable → what the loader calls it, and its default."""
TOKEN_NEEDS = tuple(need for loader in LOADERS for need in loader.tokens)
TOKEN_NAMES = tuple(need.name for need in TOKEN_NEEDS)
URL_NAMES = (
    *(spec.base_url_setting for spec in PROVIDERS if spec.base_url_setting),
    *LOADER_URLS,
)


def _names() -> Names:
    known = {env.name for env in ENV_BY_FIELD.values()}
    known |= {*PLUGIN_NEEDS, *URL_NAMES, *TOKEN_NAMES, CONFIG_NAME}
    return Names(
        frozenset(known), {env.name: env.aliases for env in ENV_BY_FIELD.values() if env.aliases}
    )


def _profile_defaults(merged: Mapping[str, Value]) -> dict[str, Value]:
    """The defaults of the chosen profile; none for an unknown name, which validation reports."""
    chosen = merged.get(ENV_BY_FIELD["profile"].name)
    if chosen is None or chosen.value not in PROFILE_NAMES:
        return {}
    defaults = profile_defaults(str(chosen.value)).beside(merged.keys())
    return {name: Value(value, "profile") for name, value in defaults.items()}


def _cassette(merged: Mapping[str, Value]) -> dict[str, Value]:
    """What the cassette that is replayed needs, for the user need not set it."""
    named = merged.get(ENV_BY_FIELD["cassette"].name)
    if named is None or not (path := Path(str(named.value)).expanduser()).exists():
        return {}
    needs = recording_file.read_header(path).get("settings", {})
    known = {*NEEDS, *URL_NAMES, *(ENV_BY_FIELD[name].name for name in REPLAYED_FIELDS)}
    return {name: Value(value, "cassette") for name, value in needs.items() if name in known}


def _needed(name: str, value: Value) -> str | None:
    """The text of a provider's setting; a flag that is off counts as not set.

    Raises:
        SettingsError: it is a flag and says neither yes nor no.
    """
    text = str(value.value).strip()
    if isinstance(value.value, list):
        text = ",".join(str(part) for part in value.value)
    if PLUGIN_NEEDS[name].kind != "flag":
        return text
    if text.lower() in {"1", "true", "yes", "on"}:
        return "1"
    if text.lower() in {"", "0", "false", "no", "off"}:
        return None
    raise SettingsError(f"{name} from the {value.origin} is not valid: it must be 1 or 0.")


def _check_providers(names: tuple[str, ...]) -> None:
    known = [spec.name for spec in PROVIDERS]
    for name in names:
        if name not in known:
            raise SettingsError(
                f"KINDLY_PROVIDERS names {name!r}, which is none of {', '.join(known)}."
            )


def _check_libraries(specs: tuple[ProviderSpec, ...]) -> None:
    for spec in specs:
        if spec.library and find_spec(spec.library[0]) is None:
            raise SettingsError(
                f"{spec.key_setting} is set, but {spec.label} needs a package that is not installed: "
                f"pip install 'kindly-web-search-mcp-server[{spec.library[1]}]'."
            )


def _first_problem(error: ValidationError, merged: Mapping[str, Value]) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = str(first["loc"][0])
    name = (
        str(first["loc"][1])
        if field in {"needed", "base_urls", "tokens"}
        else ENV_BY_FIELD[field].name
    )
    value = merged.get(name, Value(None, "default"))
    source = {"file": "the settings file", "environment": "the environment"}.get(
        value.origin, f"the {value.origin}"
    )
    problem = f"{first['msg'][0].lower()}{first['msg'][1:]}"
    return f"{value.written or name} from {source} is not valid: {problem}."
