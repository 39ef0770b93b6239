"""The values of all settings, and what follows from them."""

import os
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

from kindly.plugin_settings import ProfileDefaults
from kindly.read.embedders import embedder_for
from kindly.read.specs import EmbedderSpec, StoreSpec
from kindly.read.stores import IN_MEMORY, store_for
from kindly.redact import HiddenText
from kindly.search.provider import ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.settings.contexts import CONTEXTS, HostLimits
from kindly.settings.environment import read_environment
from kindly.settings.logins import LoginHeaders, read_logins, secrets_in
from kindly.settings.merging import merged_values
from kindly.settings.options import OPTIONS, AllFields
from kindly.settings.profile_catalogue import profile_defaults
from kindly.settings.sources import CONFIG_NAME, Origin, Value
from kindly.settings.validation import (
    check_driver,
    check_packages,
    check_provider_names,
    checked,
    plugin_value,
)
from kindly.settings.values import BASE_URL, SECRET, Kind
from kindly.settings.variables import (
    ENV_BY_FIELD,
    KEY_NAMES,
    NEEDS,
    TOKEN_NAMES,
    URL_NAMES,
    known_names,
)

T = TypeVar("T")

REPLAYED = "replayed-from-a-cassette"
"""The placeholder for a key during a replay."""


def revealed(secret: HiddenText | None) -> str | None:
    """The plain value of a secret."""
    return secret.get_secret_value() if secret else None


class Settings(AllFields):
    """All settings, validated and frozen; `repr` masks secrets."""

    __slots__ = ("_environ", "_login_headers", "_origins", "base_urls", "needed", "tokens")

    needed: Mapping[str, HiddenText]
    """The settings that providers need, mostly keys, by the name of their variable."""
    base_urls: Mapping[str, str]
    """Addresses of providers and loaders that differ from the default, by the name of their variable."""
    tokens: Mapping[str, HiddenText]
    """Tokens that loaders can use, by the name of their variable."""

    _origins: Mapping[str, Origin]
    _environ: Mapping[str, str]
    _login_headers: Mapping[str, LoginHeaders]

    def __init__(self, merged: Mapping[str, Value], environ: Mapping[str, str]) -> None:
        """Check and keep the value of each variable. `environ` is for child processes.

        Raises:
            SettingsError: a value is invalid.
        """
        super().__init__(
            {
                field: checked(setting.name, setting.read, merged[setting.name])
                for field, setting in ENV_BY_FIELD.items()
                if setting.name in merged
            }
        )
        needed = {name: plugin_value(name, merged[name]) for name in NEEDS if name in merged}
        self.needed = {name: HiddenText(text) for name, text in needed.items() if text}
        self.base_urls = _read(URL_NAMES, BASE_URL, merged)
        self.tokens = _read(TOKEN_NAMES, SECRET, merged)
        self._origins = {name: value.origin for name, value in merged.items()}
        self._environ = environ
        check_provider_names(self.providers)
        check_packages(self.configured())
        check_driver(self.browser)
        self._login_headers = {} if self.logins is None else read_logins(self.logins, environ)

    def changed(self, **values: object) -> Self:
        """A copy with other values, by the names of their fields."""
        other = copy(self)
        other._values = {**self._values, **values}
        return other

    @property
    def hosting(self) -> HostLimits:
        """The limits of the host: answer size and deadline; `KINDLY_DEADLINE_S` overrides the latter."""
        host = CONTEXTS[self.context]
        return HostLimits(host.max_tokens, self.deadline_s or host.deadline_s)

    @property
    def default_tokens(self) -> int:
        """The size of an answer if a call does not ask for another one."""
        return min(self.max_tokens, self.hosting.max_tokens)

    @property
    def raw_tokens(self) -> int:
        """The size of an answer that passes a vendor's JSON on: the host's cap, unless `KINDLY_MAX_TOKENS` is set."""
        is_set = self.is_set("max_tokens")
        return self.default_tokens if is_set else self.hosting.max_tokens

    @property
    def profile_defaults(self) -> ProfileDefaults:
        """What the chosen profile decides besides its tools."""
        return profile_defaults(self.profile)

    @property
    def options(self) -> Mapping[str, Any]:
        """The values of the options that plugins declare, by the name of their variable."""
        return {option.name: getattr(self, option.field_name) for option in OPTIONS}

    @property
    def data_path(self) -> Path:
        """The data folder."""
        if self.data_dir is not None:
            return self.data_dir.expanduser()
        from platformdirs import user_data_path

        return user_data_path("kindly", appauthor=False)

    @property
    def keeps(self) -> bool:
        """Whether anything is kept on disk. With a recording nothing is, so that the recording is complete."""
        return self.cassette is None

    @property
    def for_replay(self) -> Mapping[str, str]:
        """The settings that a recording needs to be replayed; secrets are replaced by a placeholder."""
        specs = [spec for spec in self.configured() if spec.library is None]
        values = {
            need.name: REPLAYED if need.kind == "secret" else revealed(self.needed[need.name]) or ""
            for spec in specs
            for need in spec.needs
        }
        values |= self.base_urls
        for option in self.embedder_spec.options:
            value = option.of(self.options)
            if option.kind != "secret" and value is not None:
                values[option.name] = str(int(value) if option.kind == "flag" else value)
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
        return embedder_for(self.options)

    @property
    def cosine_threshold(self) -> float:
        """The cosine from which a chunk matches: `SIMILARITY_THRESHOLD` if it is set, else the embedder's own."""
        is_set = self.is_set("similarity_threshold")
        return self.similarity_threshold if is_set else self.embedder_spec.cosine_threshold

    @property
    def login_headers(self) -> Mapping[str, LoginHeaders]:
        """What `KINDLY_LOGINS` says to send, by host."""
        return MappingProxyType(self._login_headers)

    @property
    def search_file(self) -> Path:
        """Where the state of search is kept if servers do not share it."""
        return self.data_path / "search.sqlite"

    @property
    def pages_file(self) -> Path | None:
        """The file of the page cache; None: in memory."""
        kept = self.cache_on_disk and self.cache_mb and self.keeps
        return self.data_path / "pages.sqlite" if kept else None

    @property
    def child_environ(self) -> Mapping[str, str]:
        """The environment at start; child processes get a part of it."""
        return MappingProxyType(self._environ)

    def origin(self, name: str) -> Origin:
        """The source of the value of a variable."""
        return self._origins.get(name, "default")

    def secrets(self) -> tuple[str, ...]:
        """Every value that must never be shown."""
        keys = (self.needed[name] for name in KEY_NAMES if name in self.needed)
        tokens = (*keys, *self.tokens.values())
        own = (self.http_proxy, self.https_proxy, *self._optional("secret"))
        shown = [secret.get_secret_value() for secret in (*own, *tokens) if secret]
        store = self.store.get_secret_value()
        parts = (store, urlsplit(store).password or "") if "://" in store else ()
        callers = (revealed(self.http_token) or "").split()
        logins = secrets_in(self._login_headers)
        return (*callers, *shown, *parts, *self._passwords(), *logins)

    def _optional(self, kind: str) -> list[Any]:
        """The values of all options of a kind that are set."""
        values = (option.of(self.options) for option in OPTIONS if option.kind == kind)
        return [value for value in values if value is not None]

    def _passwords(self) -> Iterator[str]:
        """The credentials in addresses: alone, and as basic authentication sends them."""
        addresses = [*self.base_urls.values()]
        addresses += [self.otel_endpoint or "", *self._optional("address")]
        proxies = (self.http_proxy, self.https_proxy)
        addresses += [
            secret.get_secret_value() for secret in (*self.needed.values(), *proxies) if secret
        ]
        for address in (part for text in addresses for part in (text, *text.split(","))):
            before, _, host = address.strip().rpartition("@")
            user = before.partition("://")[2] or before.removeprefix("//")
            if host and user:
                name, _, password = user.partition(":")
                yield from (
                    user,
                    password,
                    unquote(password),
                    f"{unquote(name)}:{unquote(password)}",
                )

    def configured(self) -> tuple[ProviderSpec, ...]:
        """The providers whose needs are all set, in the order in which they are called."""
        return tuple(
            spec
            for spec in self.usable_providers()
            if all(need.name in self.needed for need in spec.needs)
        )

    def usable_providers(self) -> tuple[ProviderSpec, ...]:
        """The providers that the profile and `KINDLY_PROVIDERS` allow, in order, whether or not their needs are set."""
        usable = [spec for spec in PROVIDERS if self.keeps or spec.library is None]
        allowed = self.profile_defaults.allowed_providers(self.options)
        if allowed is not None:
            usable = [spec for spec in usable if spec.name in allowed]
        if not self.providers:
            return tuple(usable)
        return tuple(
            sorted(
                (spec for spec in usable if spec.name in self.providers),
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
        """Read every source. `overrides` are command line options by the name of the field; None: not given.

        Raises:
            SettingsError: a value is invalid or unknown; the text names the variable, its source and the fix.
        """
        environ = read_environment() if environ is None else dict(environ)
        merged = merged_values(environ, overrides or {}, config)
        return cls(merged, environ)

    @classmethod
    def replaying(cls, cassette: Path, environ: Mapping[str, str]) -> Self:
        """Settings that replay a recording and ignore all other settings.

        `environ` is for child processes.

        Raises:
            SettingsError: the file is not a recording.
        """
        names = known_names()
        known = {*names.known, *(alias for names in names.aliases.values() for alias in names)}
        plain = {name: value for name, value in environ.items() if name not in known}
        return cls.load({**plain, "KINDLY_CASSETTE": str(cassette), CONFIG_NAME: os.devnull})


def _read(names: Collection[str], kind: Kind[T], merged: Mapping[str, Value]) -> dict[str, T]:
    return {name: checked(name, kind.read, merged[name]) for name in names if name in merged}
