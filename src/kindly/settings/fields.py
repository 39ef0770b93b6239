"""Every setting of the program itself: variable, description, kind, range and default."""

from typing import Literal, get_args

from kindly.fetch.browser.drivers import DRIVERS, DriverName
from kindly.fetch.chain.types import USER_AGENT
from kindly.read.stores import STORES, choices
from kindly.redact import HiddenText
from kindly.settings.contexts import ContextName
from kindly.settings.profile_catalogue import DEFAULT_PROFILE, PROFILE_CHOICES, ProfileName
from kindly.settings.values import (
    BASE_URL,
    EXACT_URL,
    FLAG,
    NAMES,
    PATH,
    PRIVATE_HOSTS,
    PROXY,
    SECRET,
    STORE,
    Setting,
    SettingValues,
    integer,
    number,
    one_of,
    text,
)


class SettingFields(SettingValues):
    """The settings with one variable each, without those that plugins declare."""

    __slots__ = ()

    profile: Setting[ProfileName] = Setting(
        "KINDLY_PROFILE",
        "The set of tools to offer.",
        one_of(PROFILE_CHOICES),
        default=DEFAULT_PROFILE,
    )
    context: Setting[ContextName] = Setting(
        "KINDLY_CONTEXT",
        "The host application; sets answer size and deadline.",
        one_of(get_args(ContextName)),
        default="agent",
    )
    plain_names = Setting(
        "KINDLY_PLAIN_NAMES", "Replace the dot in tool names by an underscore.", FLAG, default=False
    )
    max_tokens = Setting(
        "KINDLY_MAX_TOKENS",
        "Tokens of an answer; unset, Google's JSON in profile `pages` may fill the maximum of the context.",
        integer(500, 1_000_000),
        default=20_000,
    )
    deadline_s = Setting(
        "KINDLY_DEADLINE_S",
        "Time limit of a call in seconds; unset, the limit of the context.",
        number(above=0, high=3600),
        default=None,
    )

    max_calls = Setting(
        "KINDLY_MAX_CALLS",
        "Concurrent calls; a further call is answered `busy`.",
        integer(1, 10_000),
        default=128,
    )

    transport: Setting[Literal["stdio", "http"]] = Setting(
        "KINDLY_TRANSPORT",
        "How clients reach the server.",
        one_of(("stdio", "http")),
        default="stdio",
    )
    host = Setting(
        "KINDLY_HOST", "Address that the HTTP transport listens on.", text(), default="127.0.0.1"
    )
    port = Setting("KINDLY_PORT", "Port of the HTTP transport.", integer(0, 65535), default=8000)
    http_token = Setting(
        "KINDLY_HTTP_TOKEN",
        "Bearer tokens that HTTP clients may send, one per line; required except on loopback.",
        SECRET,
        default=None,
    )
    http_token_file = Setting(
        "KINDLY_HTTP_TOKEN_FILE",
        "A file with such tokens; read again when it changes.",
        PATH,
        default=None,
    )
    oauth_issuer = Setting(
        "KINDLY_OAUTH_ISSUER",
        "Authorization server whose tokens HTTP clients may send.",
        EXACT_URL,
        default=None,
    )
    oauth_audience = Setting(
        "KINDLY_OAUTH_AUDIENCE",
        "The audience (`aud`) that its tokens must have.",
        text(),
        default=None,
    )
    oauth_jwks_url = Setting(
        "KINDLY_OAUTH_JWKS_URL",
        "The address of its keys; unset, taken from its metadata.",
        EXACT_URL,
        default=None,
    )
    oauth_scopes = Setting(
        "KINDLY_OAUTH_SCOPES", "Scopes that its tokens must have.", NAMES, default=()
    )
    public_url = Setting(
        "KINDLY_PUBLIC_URL",
        "Address of `/mcp` that clients use, behind a proxy.",
        EXACT_URL,
        default=None,
    )
    rate_per_minute = Setting(
        "KINDLY_RATE_PER_MINUTE",
        "HTTP requests per minute and caller; unset, 600 if a token is required, else unlimited.",
        integer(1, 1_000_000),
        default=None,
    )
    max_request_bytes = Setting(
        "KINDLY_MAX_REQUEST_BYTES",
        "Maximum bytes of the body of an HTTP request.",
        integer(1_000, 100_000_000),
        default=4_000_000,
    )
    allowed_hosts = Setting(
        "KINDLY_ALLOWED_HOSTS",
        "Further Host headers that the HTTP transport accepts.",
        NAMES,
        default=(),
    )

    request_timeout_ms = Setting(
        "REQUEST_TIMEOUT_MS",
        "Time limit for one page in milliseconds.",
        integer(100, 600_000),
        default=30_000,
    )
    concurrency = Setting("CONCURRENCY", "Concurrent downloads.", integer(1, 1000), default=64)
    host_concurrency = Setting(
        "KINDLY_HOST_CONCURRENCY",
        "Concurrent downloads from one site.",
        integer(1, 1000),
        default=8,
    )
    max_page_bytes = Setting(
        "KINDLY_MAX_PAGE_BYTES",
        "Maximum bytes of a page after decompression; a larger text page is cut there.",
        integer(10_000, 100_000_000),
        default=2_000_000,
    )
    max_file_bytes = Setting(
        "KINDLY_MAX_FILE_BYTES",
        "Maximum bytes of a PDF, an office file, a book or a picture.",
        integer(10_000, 200_000_000),
        default=20_000_000,
    )
    user_agent = Setting(
        "KINDLY_USER_AGENT", "User-Agent for pages.", text(1, 500), default=USER_AGENT
    )
    respect_robots_txt = Setting("RESPECT_ROBOTS_TXT", "Obey robots.txt.", FLAG, default=True)
    allow_private = Setting(
        "KINDLY_ALLOW_PRIVATE",
        "Private hosts, `host[:port]`, that may be fetched.",
        PRIVATE_HOSTS,
        default=(),
    )
    blocked_domains = Setting(
        "KINDLY_BLOCKED_DOMAINS",
        "Domains that are never fetched, with their subdomains.",
        NAMES,
        default=(),
    )
    allowed_domains = Setting(
        "KINDLY_ALLOWED_DOMAINS", "If set, the only domains that may be fetched.", NAMES, default=()
    )
    archive = Setting(
        "KINDLY_ARCHIVE",
        "Look a page that is gone or cannot be reached up in the Wayback Machine.",
        FLAG,
        default=False,
    )
    archive_url = Setting(
        "KINDLY_ARCHIVE_URL",
        "The address of the Wayback Machine's API.",
        EXACT_URL,
        default="https://archive.org",
    )
    logins = Setting(
        "KINDLY_LOGINS",
        "A file of headers and cookies by host, for pages that need a login; readable by its owner only.",
        PATH,
        default=None,
    )
    data_dir = Setting(
        "DATA_DIR",
        "The folder for pages; unset, the user data folder of the platform.",
        PATH,
        default=None,
    )
    cache_mb = Setting(
        "KINDLY_CACHE_MB",
        "Size of the page cache in MB; 0 turns it off.",
        integer(0, 100_000),
        default=256,
    )
    cache_on_disk = Setting(
        "KINDLY_CACHE_ON_DISK",
        "Keep the page cache on disk; 0, in memory only.",
        FLAG,
        default=True,
    )
    cache_hours = Setting(
        "KINDLY_CACHE_HOURS",
        "Hours before a cached page is revalidated.",
        number(0, 8760),
        default=24,
    )
    workers = Setting(
        "KINDLY_WORKERS",
        "Processes that parse pages; unset, one per core, at most four.",
        integer(1, 64),
        default=None,
    )

    browser: Setting[Literal["auto", DriverName, "off"]] = Setting(
        "KINDLY_BROWSER",
        "The browser driver for pages that need JavaScript, if it is installed.",
        one_of(("auto", *DRIVERS, "off")),
        default="auto",
    )
    browser_path = Setting(
        "KINDLY_BROWSER_PATH",
        "The executable of the browser; unset, Kindly searches for it.",
        PATH,
        default=None,
    )
    browser_sandbox = Setting(
        "KINDLY_BROWSER_SANDBOX",
        "The sandbox of the browser; unset, on except for root. Turn it off only inside a container.",
        FLAG,
        default=None,
    )
    browser_attempts = Setting(
        "KINDLY_BROWSER_ATTEMPTS", "Attempts to start the browser.", integer(1, 10), default=3
    )
    browser_backoff_s = Setting(
        "KINDLY_BROWSER_BACKOFF_S",
        "Seconds before the second attempt; doubled for each further one.",
        number(0, 60),
        default=0.5,
    )

    http_proxy = Setting(
        "HTTP_PROXY", "Proxy for http addresses.", PROXY, default=None, aliases=("http_proxy",)
    )
    https_proxy = Setting(
        "HTTPS_PROXY", "Proxy for https addresses.", PROXY, default=None, aliases=("https_proxy",)
    )
    no_proxy = Setting(
        "NO_PROXY", "Hosts that need no proxy.", NAMES, default=(), aliases=("no_proxy",)
    )
    ssl_cert_file = Setting(
        "SSL_CERT_FILE",
        "Certificate authorities to trust in addition to those of the system (PEM).",
        PATH,
        default=None,
    )

    store = Setting(
        "KINDLY_STORE",
        f"Where the library of read pages is: {choices()}.",
        STORE,
        default=HiddenText(STORES[0].name),
    )
    library_mb = Setting(
        "KINDLY_LIBRARY_MB",
        "Size of the library in MB; the oldest pages are removed first.",
        integer(1, 1_000_000),
        default=1_000,
    )
    library_days = Setting(
        "KINDLY_LIBRARY_DAYS",
        "Days that a page stays in the library.",
        number(above=0, high=36_500),
        default=365,
    )
    embedding_tokens_size = Setting(
        "EMBEDDING_TOKENS_SIZE", "Maximum tokens of a chunk.", integer(64, 8_192), default=512
    )
    similarity_threshold = Setting(
        "SIMILARITY_THRESHOLD",
        "The score from which a passage counts as an answer. In profile `pages`, the cosine from which a chunk is "
        "returned; unset, 0.25 there with the local model.",
        number(0, 1),
        default=0.72,
    )

    cassette = Setting(
        "KINDLY_CASSETTE",
        "A recording of network traffic: replayed if the file exists, else recorded.",
        PATH,
        default=None,
    )

    log_level: Setting[Literal["debug", "info", "warning", "error"]] = Setting(
        "KINDLY_LOG_LEVEL",
        "The lowest level of log lines that are written.",
        one_of(("debug", "info", "warning", "error")),
        default="warning",
    )
    log_format: Setting[Literal["json", "text"]] = Setting(
        "KINDLY_LOG_FORMAT", "The format of log lines.", one_of(("json", "text")), default="json"
    )
    otel = Setting(
        "KINDLY_OTEL",
        "Send traces of calls (extra `otel`); unset, on if OTEL_EXPORTER_OTLP_ENDPOINT is set.",
        FLAG,
        default=None,
    )
    otel_endpoint = Setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "The collector for traces, OTLP over HTTP; unset, http://localhost:4318.",
        BASE_URL,
        default=None,
    )

    providers = Setting(
        "KINDLY_PROVIDERS",
        "The providers to use, in this order; unset, all that are configured.",
        NAMES,
        default=(),
    )
    fuse = Setting(
        "KINDLY_FUSE",
        "How many providers are called concurrently, with fused results.",
        integer(1, 10),
        default=1,
    )
    search_cache_minutes = Setting(
        "KINDLY_SEARCH_CACHE_MINUTES",
        "Minutes that search results are cached in memory.",
        number(0, 10_080),
        default=60,
    )

    search_timeout_s = Setting(
        "KINDLY_SEARCH_TIMEOUT_S",
        "Time limit of a search in seconds, over all providers.",
        number(1, 120),
        default=9.5,
    )
    searches_per_minute = Setting(
        "KINDLY_SEARCHES_PER_MINUTE",
        "Searches per minute and provider; unset, the limit of its plan. Further searches wait.",
        integer(1, 6_000),
        default=None,
    )
    default_results = Setting(
        "KINDLY_DEFAULT_RESULTS",
        "Results if a search sets no number; unset, 10 (profiles searxng, media, chatgpt).",
        integer(1, 50),
        default=None,
    )
    max_results = Setting(
        "KINDLY_MAX_RESULTS",
        "Maximum results of a search; unset, 50 in profile searxng, 20 in profile media.",
        integer(1, 50),
        default=None,
    )
