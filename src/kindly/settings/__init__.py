"""Every setting, read once at start: defaults < TOML file < environment < command line.

The only reader of the environment. Out comes one frozen `Settings`; a value that is wrong or unknown is named in one
line by `SettingsError`. What a setting does is said beside it; `docs/settings.md` is checked against this file.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
)
from pydantic.fields import FieldInfo

from kindly.errors import SettingsError
from kindly.fetch.calls import USER_AGENT
from kindly.fetch.guard import parse_opened
from kindly.fetch.loaders import LOADERS
from kindly.search.provider import Need, ProviderSpec
from kindly.search.providers import PROVIDERS
from kindly.settings.hosts import CONTEXTS, PROFILE_DEFAULTS, ContextName, Host, ProfileName
from kindly.settings.sources import (
    CONFIG_NAME,
    Names,
    Origin,
    Value,
    config_path,
    from_environ,
    from_file,
)

__all__ = [
    "CONTEXTS",
    "ENV_BY_FIELD",
    "LOADER_URLS",
    "ContextName",
    "Host",
    "ProfileName",
    "Settings",
    "revealed",
]


@dataclass(frozen=True, slots=True)
class Env:
    """The variable that sets a field, other names it goes by, and what it does."""

    name: str
    about: str
    aliases: tuple[str, ...] = ()


STORE_NAMES = ("sqlite", "duckdb", "memory")


def _split(value: object) -> object:
    """`a, b` → (`a`, `b`); lists pass."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _web_address(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return value.rstrip("/")


def _proxy_address(value: SecretStr) -> SecretStr:
    """A proxy as other programs take it too: without a scheme it is an http proxy."""
    text = value.get_secret_value()
    scheme, mark, _ = text.partition("://")
    if not mark:
        return SecretStr(f"http://{text}")
    if scheme.lower() not in {"http", "https"}:
        raise ValueError("must be an http:// or https:// address; SOCKS proxies cannot be used")
    return value


def _store_name(value: SecretStr) -> SecretStr:
    name = value.get_secret_value().strip()
    if name not in STORE_NAMES and not name.startswith(("postgresql://", "postgres://")):
        raise ValueError("must be sqlite, duckdb, memory or a postgresql:// address")
    return SecretStr(name)


def _private_host(value: str) -> str:
    parse_opened(value)
    return value


Listed = Annotated[tuple[str, ...], BeforeValidator(_split)]
PrivateHosts = Annotated[
    tuple[Annotated[str, AfterValidator(_private_host)], ...], BeforeValidator(_split)
]
ProxyAddress = Annotated[SecretStr, AfterValidator(_proxy_address)]
BaseUrl = Annotated[str, AfterValidator(_web_address)]


class Settings(BaseModel):
    """All that a user can set, validated and frozen; secrets are masked in its repr."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    profile: Annotated[ProfileName, Env("KINDLY_PROFILE", "The set of tools that is offered.")] = (
        "kindly"
    )
    context: Annotated[
        ContextName, Env("KINDLY_CONTEXT", "The host application; sets answer size and deadline.")
    ] = "agent"
    plain_names: Annotated[
        bool, Env("KINDLY_PLAIN_NAMES", "Turn the dot in tool names into an underscore.")
    ] = False
    max_tokens: Annotated[
        int, Field(ge=500, le=1_000_000), Env("KINDLY_MAX_TOKENS", "Tokens of an answer.")
    ] = 20_000
    deadline_s: Annotated[
        float | None,
        Field(gt=0, le=3600),
        Env("KINDLY_DEADLINE_S", "Seconds a call may take; unset, what the context bears."),
    ] = None

    transport: Annotated[
        Literal["stdio", "http"], Env("KINDLY_TRANSPORT", "How clients reach the server.")
    ] = "stdio"
    host: Annotated[str, Env("KINDLY_HOST", "Address that the HTTP transport listens on.")] = (
        "127.0.0.1"
    )
    port: Annotated[
        int, Field(ge=0, le=65535), Env("KINDLY_PORT", "Port of the HTTP transport.")
    ] = 8000
    http_token: Annotated[
        SecretStr | None,
        Env("KINDLY_HTTP_TOKEN", "Bearer token that HTTP clients must send; needed off loopback."),
    ] = None
    allowed_hosts: Annotated[
        Listed,
        Env("KINDLY_ALLOWED_HOSTS", "Further Host headers the HTTP transport accepts."),
    ] = ()

    request_timeout_ms: Annotated[
        int, Field(ge=100, le=600_000), Env("REQUEST_TIMEOUT_MS", "Milliseconds for one page.")
    ] = 30_000
    concurrency: Annotated[
        int, Field(ge=1, le=1000), Env("CONCURRENCY", "Downloads under way at once.")
    ] = 64
    host_concurrency: Annotated[
        int,
        Field(ge=1, le=1000),
        Env("KINDLY_HOST_CONCURRENCY", "Downloads at once from one site."),
    ] = 8
    max_page_bytes: Annotated[
        int,
        Field(ge=10_000, le=100_000_000),
        Env("KINDLY_MAX_PAGE_BYTES", "Bytes of a page after decompression."),
    ] = 2_000_000
    max_file_bytes: Annotated[
        int,
        Field(ge=10_000, le=200_000_000),
        Env("KINDLY_MAX_FILE_BYTES", "Bytes of a PDF, an office file or a book."),
    ] = 20_000_000
    user_agent: Annotated[
        str, Field(min_length=1, max_length=500), Env("KINDLY_USER_AGENT", "User-Agent for pages.")
    ] = USER_AGENT
    respect_robots_txt: Annotated[
        bool, Env("RESPECT_ROBOTS_TXT", "Leave out pages that robots.txt forbids.")
    ] = True
    allow_private: Annotated[
        PrivateHosts,
        Env("KINDLY_ALLOW_PRIVATE", "Private hosts, `host[:port]`, that may be fetched."),
    ] = ()
    blocked_domains: Annotated[
        Listed, Env("KINDLY_BLOCKED_DOMAINS", "Domains never to be fetched, subdomains included.")
    ] = ()
    allowed_domains: Annotated[
        Listed, Env("KINDLY_ALLOWED_DOMAINS", "If set, the only domains that may be fetched.")
    ] = ()
    data_dir: Annotated[
        Path | None,
        Env("DATA_DIR", "Where pages are kept; unset, the platform's user data folder."),
    ] = None
    cache_mb: Annotated[
        int,
        Field(ge=0, le=100_000),
        Env("KINDLY_CACHE_MB", "Size of the page cache; 0 keeps none."),
    ] = 256
    cache_hours: Annotated[
        float,
        Field(ge=0, le=8760),
        Env("KINDLY_CACHE_HOURS", "Hours before a kept page is asked for again."),
    ] = 24
    workers: Annotated[
        int | None,
        Field(ge=1, le=64),
        Env("KINDLY_WORKERS", "Processes that parse pages; unset, one a core, at most four."),
    ] = None

    browser: Annotated[
        Literal["auto", "playwright", "nodriver", "off"],
        Env("KINDLY_BROWSER", "What renders pages that need JavaScript, where it is installed."),
    ] = "auto"
    browser_path: Annotated[
        Path | None,
        Env("KINDLY_BROWSER_PATH", "The browser's executable; unset, it is looked for."),
    ] = None
    browser_attempts: Annotated[
        int, Field(ge=1, le=10), Env("KINDLY_BROWSER_ATTEMPTS", "How often its start is tried.")
    ] = 3
    browser_backoff_s: Annotated[
        float,
        Field(ge=0, le=60),
        Env(
            "KINDLY_BROWSER_BACKOFF_S",
            "Pause before the second try; each further one is twice as long.",
        ),
    ] = 0.5

    http_proxy: Annotated[
        ProxyAddress | None, Env("HTTP_PROXY", "Proxy for http addresses.", ("http_proxy",))
    ] = None
    https_proxy: Annotated[
        ProxyAddress | None, Env("HTTPS_PROXY", "Proxy for https addresses.", ("https_proxy",))
    ] = None
    no_proxy: Annotated[
        Listed, Env("NO_PROXY", "Hosts that are reached without a proxy.", ("no_proxy",))
    ] = ()
    ssl_cert_file: Annotated[
        Path | None, Env("SSL_CERT_FILE", "Certificates to trust beside the system's (PEM).")
    ] = None

    store: Annotated[
        SecretStr,
        AfterValidator(_store_name),
        Env(
            "KINDLY_STORE",
            "Where the library of read pages is: sqlite, duckdb, memory or a postgresql:// address.",
        ),
    ] = SecretStr("sqlite")
    library_mb: Annotated[
        int,
        Field(ge=1, le=1_000_000),
        Env("KINDLY_LIBRARY_MB", "Size of the library; the oldest pages leave first."),
    ] = 1_000
    library_days: Annotated[
        float,
        Field(gt=0, le=36_500),
        Env("KINDLY_LIBRARY_DAYS", "Days that a page stays in the library."),
    ] = 365
    embedding_server_url: Annotated[
        BaseUrl | None,
        Env(
            "EMBEDDING_SERVER_URL",
            "An OpenAI-compatible embedding server; unset, the model that comes with the install.",
        ),
    ] = None
    embedding_server_api_key: Annotated[
        SecretStr | None, Env("EMBEDDING_SERVER_API_KEY", "Its key, sent as a bearer token.")
    ] = None
    embedding_model_name: Annotated[
        str, Field(min_length=1, max_length=200), Env("EMBEDDING_MODEL_NAME", "Its model.")
    ] = "text-embedding-3-small"
    embedding_tokens_size: Annotated[
        int,
        Field(ge=64, le=8_192),
        Env("EMBEDDING_TOKENS_SIZE", "Tokens of a chunk at most."),
    ] = 512
    similarity_threshold: Annotated[
        float,
        Field(ge=0, le=1),
        Env("SIMILARITY_THRESHOLD", "Score from which a passage counts as an answer."),
    ] = 0.72

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Env("KINDLY_LOG_LEVEL", "Least important log line that is written."),
    ] = "warning"

    providers: Annotated[
        Listed,
        Env(
            "KINDLY_PROVIDERS",
            "Which providers are asked, in this order; unset, all that are set up.",
        ),
    ] = ()
    fuse: Annotated[
        int, Field(ge=1, le=10), Env("KINDLY_FUSE", "How many providers are asked at once.")
    ] = 1
    search_cache_minutes: Annotated[
        float,
        Field(ge=0, le=10_080),
        Env("KINDLY_SEARCH_CACHE_MINUTES", "Minutes that results are kept, in memory only."),
    ] = 60

    needed: Mapping[str, SecretStr] = Field(default_factory=dict)
    """What providers need, keys above all, by the name of the variable."""
    base_urls: Mapping[str, BaseUrl] = Field(default_factory=dict)
    """Addresses that differ from the vendor's, of providers and loaders, by the name of their variable."""
    tokens: Mapping[str, SecretStr] = Field(default_factory=dict)
    """Tokens that loaders can use, by the name of their variable."""

    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)
    _environ: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def hosting(self) -> Host:
        """The answer size and deadline in force: the context's, narrowed by what is set."""
        host = CONTEXTS[self.context]
        return Host(host.max_tokens, self.deadline_s or host.deadline_s)

    @property
    def default_tokens(self) -> int:
        """Tokens of an answer when a call does not ask for another size."""
        return min(self.max_tokens, self.hosting.max_tokens)

    @property
    def data_path(self) -> Path:
        """Where this user's pages are kept."""
        if self.data_dir is not None:
            return self.data_dir.expanduser()
        from platformdirs import user_data_path

        return user_data_path("kindly", appauthor=False)

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
        own = (self.http_token, self.http_proxy, self.https_proxy, self.embedding_server_api_key)
        shown = [secret.get_secret_value() for secret in (*own, *tokens) if secret]
        store = self.store.get_secret_value()
        parts = () if store in STORE_NAMES else (store, urlsplit(store).password or "")
        return (*shown, *parts)

    def configured(self) -> tuple[ProviderSpec, ...]:
        """The providers that have all they need, in the order in which they are asked."""
        ready = [spec for spec in PROVIDERS if all(need.name in self.needed for need in spec.needs)]
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
        merged: dict[str, Value] = from_file(config or config_path(environ), names)
        merged |= from_environ(environ, names)
        merged |= {
            ENV_BY_FIELD[name].name: Value(value, "command line")
            for name, value in (overrides or {}).items()
            if value is not None
        }
        merged = _profile_defaults(merged) | merged
        settings = cls._validated(merged)
        settings._origins.update({name: value.origin for name, value in merged.items()})
        settings._environ = environ
        return settings

    @classmethod
    def _validated(cls, merged: Mapping[str, "Value"]) -> Self:
        fields: dict[str, object] = {
            field: merged[env.name].value
            for field, env in ENV_BY_FIELD.items()
            if env.name in merged
        }
        needed = {name: _needed(name, merged[name]) for name in NEEDS if name in merged}
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


def revealed(secret: SecretStr | None) -> str | None:
    """The plain value, for the one who needs it now."""
    return secret.get_secret_value() if secret else None


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
KEY_NAMES = tuple(name for name, need in NEEDS.items() if need.kind == "secret")
LOADER_URLS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {f"KINDLY_{name}": (name, default) for loader in LOADERS for name, default in loader.base_urls}
)
"""Variable → what the loader calls it, and its default."""
TOKEN_NAMES = tuple(name for loader in LOADERS for name in loader.tokens)
URL_NAMES = (
    *(spec.base_url_setting for spec in PROVIDERS if spec.base_url_setting),
    *LOADER_URLS,
)


def _names() -> Names:
    known = {env.name for env in ENV_BY_FIELD.values()}
    known |= {*NEEDS, *URL_NAMES, *TOKEN_NAMES, CONFIG_NAME}
    return Names(
        frozenset(known), {env.name: env.aliases for env in ENV_BY_FIELD.values() if env.aliases}
    )


def _profile_defaults(merged: Mapping[str, Value]) -> dict[str, Value]:
    """What the chosen profile takes for granted; nothing if there is no such profile, which is told later."""
    chosen = merged.get(ENV_BY_FIELD["profile"].name)
    defaults = next(
        (taken for name, taken in PROFILE_DEFAULTS.items() if chosen and chosen.value == name), {}
    )
    return {name: Value(value, "profile") for name, value in defaults.items()}


def _needed(name: str, value: Value) -> str | None:
    """The text of a provider's setting; a flag that is off counts as not set.

    Raises:
        SettingsError: it is a flag and says neither yes nor no.
    """
    text = str(value.value).strip()
    if isinstance(value.value, list):
        text = ",".join(str(part) for part in value.value)
    if NEEDS[name].kind != "flag":
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
    origin = merged[name].origin if name in merged else "default"
    source = {"file": "the settings file", "environment": "the environment"}.get(
        origin, f"the {origin}"
    )
    return f"{name} from {source} is not valid: {first['msg'][0].lower()}{first['msg'][1:]}."
