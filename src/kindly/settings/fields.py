"""Every setting of the program itself as a field: type, range, default, variable and description."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from kindly.fetch.browser.drivers import DriverName
from kindly.fetch.chain.types import USER_AGENT
from kindly.read.stores import STORES, choices
from kindly.settings.contexts import ContextName
from kindly.settings.profile_catalogue import DEFAULT_PROFILE, ProfileName
from kindly.settings.values import (
    BaseUrl,
    Env,
    ExactUrl,
    Listed,
    PrivateHosts,
    ProxyAddress,
    store_name,
)


class SettingFields(BaseModel):
    """The settings with one variable each, without those that plugins declare."""

    # Only the last subclass validates, so only its validator is built.
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    profile: Annotated[ProfileName, Env("KINDLY_PROFILE", "The set of tools to offer.")] = (
        DEFAULT_PROFILE
    )
    context: Annotated[
        ContextName, Env("KINDLY_CONTEXT", "The host application; sets answer size and deadline.")
    ] = "agent"
    plain_names: Annotated[
        bool, Env("KINDLY_PLAIN_NAMES", "Replace the dot in tool names by an underscore.")
    ] = False
    max_tokens: Annotated[
        int,
        Field(ge=500, le=1_000_000),
        Env(
            "KINDLY_MAX_TOKENS",
            "Tokens of an answer; unset, Google's JSON in profile `pages` may fill the maximum of the context.",
        ),
    ] = 20_000
    deadline_s: Annotated[
        float | None,
        Field(gt=0, le=3600),
        Env(
            "KINDLY_DEADLINE_S", "Time limit of a call in seconds; unset, the limit of the context."
        ),
    ] = None

    max_calls: Annotated[
        int,
        Field(ge=1, le=10_000),
        Env("KINDLY_MAX_CALLS", "Concurrent calls; a further call is answered `busy`."),
    ] = 128

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
        Env(
            "KINDLY_HTTP_TOKEN",
            "Bearer tokens that HTTP clients may send, one per line; required except on loopback.",
        ),
    ] = None
    http_token_file: Annotated[
        Path | None,
        Env("KINDLY_HTTP_TOKEN_FILE", "A file with such tokens; read again when it changes."),
    ] = None
    oauth_issuer: Annotated[
        ExactUrl | None,
        Env("KINDLY_OAUTH_ISSUER", "Authorization server whose tokens HTTP clients may send."),
    ] = None
    oauth_audience: Annotated[
        str | None, Env("KINDLY_OAUTH_AUDIENCE", "The audience (`aud`) that its tokens must have.")
    ] = None
    oauth_jwks_url: Annotated[
        ExactUrl | None,
        Env("KINDLY_OAUTH_JWKS_URL", "The address of its keys; unset, taken from its metadata."),
    ] = None
    oauth_scopes: Annotated[
        Listed, Env("KINDLY_OAUTH_SCOPES", "Scopes that its tokens must have.")
    ] = ()
    public_url: Annotated[
        ExactUrl | None,
        Env("KINDLY_PUBLIC_URL", "Address of `/mcp` that clients use, behind a proxy."),
    ] = None
    rate_per_minute: Annotated[
        int | None,
        Field(ge=1, le=1_000_000),
        Env(
            "KINDLY_RATE_PER_MINUTE",
            "HTTP requests per minute and caller; unset, 600 if a token is required, else unlimited.",
        ),
    ] = None
    max_request_bytes: Annotated[
        int,
        Field(ge=1_000, le=100_000_000),
        Env("KINDLY_MAX_REQUEST_BYTES", "Maximum bytes of the body of an HTTP request."),
    ] = 4_000_000
    allowed_hosts: Annotated[
        Listed,
        Env("KINDLY_ALLOWED_HOSTS", "Further Host headers that the HTTP transport accepts."),
    ] = ()

    request_timeout_ms: Annotated[
        int,
        Field(ge=100, le=600_000),
        Env("REQUEST_TIMEOUT_MS", "Time limit for one page in milliseconds."),
    ] = 30_000
    concurrency: Annotated[
        int, Field(ge=1, le=1000), Env("CONCURRENCY", "Concurrent downloads.")
    ] = 64
    host_concurrency: Annotated[
        int,
        Field(ge=1, le=1000),
        Env("KINDLY_HOST_CONCURRENCY", "Concurrent downloads from one site."),
    ] = 8
    max_page_bytes: Annotated[
        int,
        Field(ge=10_000, le=100_000_000),
        Env(
            "KINDLY_MAX_PAGE_BYTES",
            "Maximum bytes of a page after decompression; a larger text page is cut there.",
        ),
    ] = 2_000_000
    max_file_bytes: Annotated[
        int,
        Field(ge=10_000, le=200_000_000),
        Env(
            "KINDLY_MAX_FILE_BYTES", "Maximum bytes of a PDF, an office file, a book or a picture."
        ),
    ] = 20_000_000
    user_agent: Annotated[
        str, Field(min_length=1, max_length=500), Env("KINDLY_USER_AGENT", "User-Agent for pages.")
    ] = USER_AGENT
    respect_robots_txt: Annotated[bool, Env("RESPECT_ROBOTS_TXT", "Obey robots.txt.")] = True
    allow_private: Annotated[
        PrivateHosts,
        Env("KINDLY_ALLOW_PRIVATE", "Private hosts, `host[:port]`, that may be fetched."),
    ] = ()
    blocked_domains: Annotated[
        Listed,
        Env("KINDLY_BLOCKED_DOMAINS", "Domains that are never fetched, with their subdomains."),
    ] = ()
    allowed_domains: Annotated[
        Listed, Env("KINDLY_ALLOWED_DOMAINS", "If set, the only domains that may be fetched.")
    ] = ()
    archive: Annotated[
        bool,
        Env(
            "KINDLY_ARCHIVE",
            "Look a page that is gone or cannot be reached up in the Wayback Machine.",
        ),
    ] = False
    archive_url: Annotated[
        ExactUrl, Env("KINDLY_ARCHIVE_URL", "The address of the Wayback Machine's API.")
    ] = "https://archive.org"
    logins: Annotated[
        Path | None,
        Env(
            "KINDLY_LOGINS",
            "A file of headers and cookies by host, for pages that need a login; readable by its owner only.",
        ),
    ] = None
    data_dir: Annotated[
        Path | None,
        Env("DATA_DIR", "The folder for pages; unset, the user data folder of the platform."),
    ] = None
    cache_mb: Annotated[
        int,
        Field(ge=0, le=100_000),
        Env("KINDLY_CACHE_MB", "Size of the page cache in MB; 0 turns it off."),
    ] = 256
    cache_on_disk: Annotated[
        bool, Env("KINDLY_CACHE_ON_DISK", "Keep the page cache on disk; 0, in memory only.")
    ] = True
    cache_hours: Annotated[
        float,
        Field(ge=0, le=8760),
        Env("KINDLY_CACHE_HOURS", "Hours before a cached page is revalidated."),
    ] = 24
    workers: Annotated[
        int | None,
        Field(ge=1, le=64),
        Env("KINDLY_WORKERS", "Processes that parse pages; unset, one per core, at most four."),
    ] = None

    browser: Annotated[
        Literal["auto", DriverName, "off"],
        Env(
            "KINDLY_BROWSER",
            "The browser driver for pages that need JavaScript, if it is installed.",
        ),
    ] = "auto"
    browser_path: Annotated[
        Path | None,
        Env("KINDLY_BROWSER_PATH", "The executable of the browser; unset, Kindly searches for it."),
    ] = None
    browser_sandbox: Annotated[
        bool | None,
        Env(
            "KINDLY_BROWSER_SANDBOX",
            "The sandbox of the browser; unset, on except for root. Turn it off only inside a container.",
        ),
    ] = None
    browser_attempts: Annotated[
        int, Field(ge=1, le=10), Env("KINDLY_BROWSER_ATTEMPTS", "Attempts to start the browser.")
    ] = 3
    browser_backoff_s: Annotated[
        float,
        Field(ge=0, le=60),
        Env(
            "KINDLY_BROWSER_BACKOFF_S",
            "Seconds before the second attempt; doubled for each further one.",
        ),
    ] = 0.5

    http_proxy: Annotated[
        ProxyAddress | None, Env("HTTP_PROXY", "Proxy for http addresses.", ("http_proxy",))
    ] = None
    https_proxy: Annotated[
        ProxyAddress | None, Env("HTTPS_PROXY", "Proxy for https addresses.", ("https_proxy",))
    ] = None
    no_proxy: Annotated[Listed, Env("NO_PROXY", "Hosts that need no proxy.", ("no_proxy",))] = ()
    ssl_cert_file: Annotated[
        Path | None,
        Env(
            "SSL_CERT_FILE",
            "Certificate authorities to trust in addition to those of the system (PEM).",
        ),
    ] = None

    store: Annotated[
        SecretStr,
        AfterValidator(store_name),
        Env(
            "KINDLY_STORE",
            f"Where the library of read pages is: {choices()}.",
        ),
    ] = SecretStr(STORES[0].name)
    library_mb: Annotated[
        int,
        Field(ge=1, le=1_000_000),
        Env("KINDLY_LIBRARY_MB", "Size of the library in MB; the oldest pages are removed first."),
    ] = 1_000
    library_days: Annotated[
        float,
        Field(gt=0, le=36_500),
        Env("KINDLY_LIBRARY_DAYS", "Days that a page stays in the library."),
    ] = 365
    embedding_tokens_size: Annotated[
        int,
        Field(ge=64, le=8_192),
        Env("EMBEDDING_TOKENS_SIZE", "Maximum tokens of a chunk."),
    ] = 512
    similarity_threshold: Annotated[
        float,
        Field(ge=0, le=1),
        Env(
            "SIMILARITY_THRESHOLD",
            "The score from which a passage counts as an answer. In profile `pages`, the cosine from which a chunk is "
            "returned; unset, 0.25 there with the local model.",
        ),
    ] = 0.72

    cassette: Annotated[
        Path | None,
        Env(
            "KINDLY_CASSETTE",
            "A recording of network traffic: replayed if the file exists, else recorded.",
        ),
    ] = None

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Env("KINDLY_LOG_LEVEL", "The lowest level of log lines that are written."),
    ] = "warning"
    log_format: Annotated[
        Literal["json", "text"],
        Env("KINDLY_LOG_FORMAT", "The format of log lines."),
    ] = "json"
    otel: Annotated[
        bool | None,
        Env(
            "KINDLY_OTEL",
            "Send traces of calls (extra `otel`); unset, on if OTEL_EXPORTER_OTLP_ENDPOINT is set.",
        ),
    ] = None
    otel_endpoint: Annotated[
        BaseUrl | None,
        Field(repr=False),
        Env(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "The collector for traces, OTLP over HTTP; unset, http://localhost:4318.",
        ),
    ] = None

    providers: Annotated[
        Listed,
        Env(
            "KINDLY_PROVIDERS",
            "The providers to use, in this order; unset, all that are configured.",
        ),
    ] = ()
    fuse: Annotated[
        int,
        Field(ge=1, le=10),
        Env("KINDLY_FUSE", "How many providers are called concurrently, with fused results."),
    ] = 1
    search_cache_minutes: Annotated[
        float,
        Field(ge=0, le=10_080),
        Env("KINDLY_SEARCH_CACHE_MINUTES", "Minutes that search results are cached in memory."),
    ] = 60

    search_timeout_s: Annotated[
        float,
        Field(ge=1, le=120),
        Env("KINDLY_SEARCH_TIMEOUT_S", "Time limit of a search in seconds, over all providers."),
    ] = 9.5
    searches_per_minute: Annotated[
        int | None,
        Field(ge=1, le=6_000),
        Env(
            "KINDLY_SEARCHES_PER_MINUTE",
            "Searches per minute and provider; unset, the limit of its plan. Further searches wait.",
        ),
    ] = None
    default_results: Annotated[
        int | None,
        Field(ge=1, le=50),
        Env(
            "KINDLY_DEFAULT_RESULTS",
            "Results if a search sets no number; unset, 10 (profiles searxng, media, chatgpt).",
        ),
    ] = None
    max_results: Annotated[
        int | None,
        Field(ge=1, le=50),
        Env(
            "KINDLY_MAX_RESULTS",
            "Maximum results of a search; unset, 50 in profile searxng, 20 in profile media.",
        ),
    ] = None
