"""Every setting, read once at start: defaults < TOML file < environment < command line.

The only reader of the environment. Out comes one frozen `Settings`; a value that is wrong or unknown is named in one
line by `SettingsError`. What a setting does is said beside it; `docs/settings.md` is checked against this file.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self

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

ContextName = Literal[
    "agent", "codex", "claude-code", "claude-desktop", "cursor", "vscode", "gemini-cli"
]
ProfileName = Literal["kindly"]
Origin = Literal["default", "file", "environment", "command line"]

MASKED_VARIABLES = ("EMBEDDING_SERVER_API_KEY",)
"""Secrets that may lie in the same environment: not used here, but masked wherever they might appear."""


@dataclass(frozen=True, slots=True)
class Host:
    """What a host application bears: the size of an answer and the length of a call."""

    max_tokens: int
    """An answer is never larger, whatever a call asks for."""
    deadline_s: float
    """A call answers before this, with what it has by then."""


CONTEXTS: Mapping[ContextName, Host] = MappingProxyType(
    {
        "agent": Host(max_tokens=100_000, deadline_s=50),
        # Codex gives a tool call 60 s and shows the model about 10,000 tokens of its answer.
        "codex": Host(max_tokens=9_000, deadline_s=50),
        # Claude Code refuses answers above MAX_MCP_OUTPUT_TOKENS, 25,000 by default.
        "claude-code": Host(max_tokens=20_000, deadline_s=55),
        # The desktop application drops a call after about 60 s.
        "claude-desktop": Host(max_tokens=20_000, deadline_s=50),
        "cursor": Host(max_tokens=20_000, deadline_s=50),
        "vscode": Host(max_tokens=20_000, deadline_s=50),
        # Gemini CLI cuts tool output at 40,000 characters.
        "gemini-cli": Host(max_tokens=9_000, deadline_s=50),
    }
)


@dataclass(frozen=True, slots=True)
class Env:
    """The variable that sets a field, other names it goes by, and what it does."""

    name: str
    about: str
    aliases: tuple[str, ...] = ()


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


def _private_host(value: str) -> str:
    parse_opened(value)
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
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
        Names,
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
        Names, Env("KINDLY_BLOCKED_DOMAINS", "Domains never to be fetched, subdomains included.")
    ] = ()
    allowed_domains: Annotated[
        Names, Env("KINDLY_ALLOWED_DOMAINS", "If set, the only domains that may be fetched.")
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
        Names, Env("NO_PROXY", "Hosts that are reached without a proxy.", ("no_proxy",))
    ] = ()
    ssl_cert_file: Annotated[
        Path | None, Env("SSL_CERT_FILE", "Certificates to trust beside the system's (PEM).")
    ] = None

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Env("KINDLY_LOG_LEVEL", "Least important log line that is written."),
    ] = "warning"

    providers: Annotated[
        Names,
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
    _masked: tuple[str, ...] = PrivateAttr(default=())
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
        own = (self.http_token, self.http_proxy, self.https_proxy, *tokens)
        return (*self._masked, *(secret.get_secret_value() for secret in own if secret))

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
        merged: dict[str, _Value] = _from_file(config or _config_path(environ))
        merged |= _from_environ(environ)
        merged |= {
            ENV_BY_FIELD[name].name: _Value(value, "command line")
            for name, value in (overrides or {}).items()
            if value is not None
        }
        settings = cls._validated(merged)
        settings._origins.update({name: value.origin for name, value in merged.items()})
        settings._masked = tuple(environ[name] for name in MASKED_VARIABLES if environ.get(name))
        settings._environ = environ
        return settings

    @classmethod
    def _validated(cls, merged: Mapping[str, "_Value"]) -> Self:
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


@dataclass(frozen=True, slots=True)
class _Value:
    value: object
    origin: Origin


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
CONFIG_NAME = "KINDLY_CONFIG"


def _known() -> frozenset[str]:
    return frozenset(
        {env.name for env in ENV_BY_FIELD.values()}
        | {*NEEDS, *URL_NAMES, *TOKEN_NAMES, CONFIG_NAME}
    )


def _config_path(environ: Mapping[str, str]) -> Path | None:
    if named := environ.get(CONFIG_NAME):
        return Path(named).expanduser()
    from platformdirs import user_config_path

    usual = user_config_path("kindly", appauthor=False) / "config.toml"
    return usual if usual.is_file() else None


def _from_file(path: Path | None) -> dict[str, _Value]:
    """Values of a TOML file whose keys are the variables' names in lower case, with or without `kindly_`."""
    if path is None:
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} is not valid TOML: {error}.") from None
    return {_variable(key, path): _Value(value, "file") for key, value in table.items()}


def _variable(key: str, path: Path) -> str:
    upper = key.upper()
    known = _known()
    for name in (upper, f"KINDLY_{upper}"):
        if name in known:
            return name
    raise SettingsError(f"Unknown setting {key!r} in {path}.{_suggestion(upper, known)}")


def _from_environ(environ: Mapping[str, str]) -> dict[str, _Value]:
    known = _known()
    for name in environ:
        if name.startswith("KINDLY_") and name not in known:
            raise SettingsError(
                f"Unknown setting {name} in the environment.{_suggestion(name, known)}"
            )
    found = {name: _Value(environ[name], "environment") for name in known if environ.get(name)}
    for env in ENV_BY_FIELD.values():
        for alias in env.aliases:
            if environ.get(alias) and env.name not in found:
                found[env.name] = _Value(environ[alias], "environment")
    return found


def _needed(name: str, value: _Value) -> str | None:
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


def _suggestion(name: str, known: frozenset[str]) -> str:
    near = get_close_matches(name, sorted(known), n=1) or get_close_matches(
        f"KINDLY_{name}", sorted(known), n=1
    )
    return f" Did you mean {near[0]}?" if near else " See docs/settings.md for all settings."


def _first_problem(error: ValidationError, merged: Mapping[str, _Value]) -> str:
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
