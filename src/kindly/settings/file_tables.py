"""Tables of other products in a settings file (`[web_search]`, `WebSearch`, `WebFetch`) → our variables.

Pure. Each key is one row: the variable that it sets, and how its value is parsed. `${VAR}` in a string is replaced by
that environment variable; an empty result counts as not set.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from kindly.frozen import frozen
from kindly.search.providers import PROVIDERS, preferred_first

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?i?b?)", re.IGNORECASE)
UNITS: Mapping[str, int] = MappingProxyType(
    {"": 1, "b": 1}
    | {unit: 1000**power for power, unit in enumerate(("kb", "mb", "gb"), start=1)}
    | {unit: 1000**power for power, unit in enumerate(("k", "m", "g"), start=1)}
    | {unit: 1024**power for power, unit in enumerate(("kib", "mib", "gib"), start=1)}
)

Read = Callable[[object], object]


class Unusable(ValueError):
    """An unknown key or an invalid value; the text is the reason."""


@frozen
class Translated:
    """One value under the name of our variable."""

    variable: str
    value: object
    written: str
    """Its place in the file, such as `web_search.default_timeout`."""


@frozen
class Row:
    """The variable that a key sets. `read` raises `Unusable` if the value is invalid."""

    variable: str
    read: Read


def as_is(value: object) -> object:
    """The value unchanged; the variable has its own check."""
    return value


def number(value: object) -> float:
    """A number, or a string with one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unusable("must be a number")
    try:
        return float(value)
    except ValueError:
        raise Unusable("must be a number") from None


def milliseconds(value: object) -> int:
    """Seconds as milliseconds."""
    return round(number(value) * 1000)


def hours(value: object) -> float:
    """Minutes as hours."""
    return number(value) / 60


def size(value: object) -> int:
    """`"2MB"` or a number of bytes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2].lower() not in UNITS:
        raise Unusable('must be a size such as "2MB"')
    return round(float(match[1]) * UNITS[match[2].lower()])


def provider_order(value: object) -> list[str]:
    """The named provider first, then all others."""
    known = [spec.name for spec in PROVIDERS]
    if not isinstance(value, str) or value.strip().lower() not in known:
        raise Unusable(f"must be one of {', '.join(known)}")
    return preferred_first(value.strip().lower())


TABLES: Mapping[str, Mapping[str, Row]] = MappingProxyType(
    {
        "web_search": {
            "default_results_count": Row("KINDLY_DEFAULT_RESULTS", as_is),
            "max_results_count": Row("KINDLY_MAX_RESULTS", as_is),
            "max_concurrent_fetches": Row("CONCURRENCY", as_is),
            "default_timeout": Row("KINDLY_SEARCH_TIMEOUT_S", as_is),
            "content_fetch_timeout": Row("REQUEST_TIMEOUT_MS", milliseconds),
            "max_content_size": Row("KINDLY_MAX_PAGE_BYTES", size),
            "instance_health_check_interval": Row("KINDLY_POOL_CHECK_S", as_is),
            "max_consecutive_failures": Row("KINDLY_POOL_FAILURES", as_is),
            "rate_limit_backoff_base": Row("KINDLY_POOL_BACKOFF_S", as_is),
            "rotate_user_agents": Row("KINDLY_POOL_ROTATE_AGENTS", as_is),
            "use_random_instances": Row("KINDLY_POOL_RANDOM", as_is),
            "summarize_long_content": Row("KINDLY_SUMMARIES", as_is),
            "max_summary_length": Row("KINDLY_SUMMARY_CHARACTERS", as_is),
            "extract_code_blocks": Row("KINDLY_CODE_BLOCKS", as_is),
        },
        "WebSearch": {
            "Provider": Row("KINDLY_PROVIDERS", provider_order),
            "MaxResultsPerQuery": Row("KINDLY_MAX_RESULTS", as_is),
            "DefaultSafeSearch": Row("KINDLY_DEFAULT_SAFE_SEARCH", as_is),
            "CacheDurationMinutes": Row("KINDLY_SEARCH_CACHE_MINUTES", as_is),
            "RateLimitPerMinute": Row("KINDLY_SEARCHES_PER_MINUTE", as_is),
        },
        "WebFetch": {
            "TimeoutSeconds": Row("REQUEST_TIMEOUT_MS", milliseconds),
            "MaxContentLength": Row("KINDLY_MAX_LENGTH", as_is),
            "UserAgent": Row("KINDLY_USER_AGENT", as_is),
            "RespectRobotsTxt": Row("RESPECT_ROBOTS_TXT", as_is),
            "CacheDurationMinutes": Row("KINDLY_CACHE_HOURS", hours),
        },
    }
)
DELAY, DELAY_VARIABLES = (
    "request_delay_range",
    ("KINDLY_POOL_DELAY_MIN_MS", "KINDLY_POOL_DELAY_MAX_MS"),
)
API_KEY = "ApiKey"
DEFAULT_PROVIDER = "brave"


def translate(table: str, values: object, environ: Mapping[str, str]) -> Iterator[Translated]:
    """The values that a table sets.

    Raises:
        Unusable: a key is unknown or a value is invalid; the text names it.
    """
    if not isinstance(values, Mapping):
        raise Unusable(f"{table} must be a table.")
    expanded = {key: expand(value, environ) for key, value in values.items()}
    for key, value in expanded.items():
        written = f"{table}.{key}"
        if value in (None, ""):
            continue
        try:
            yield from _rows(table, key, value, expanded, written)
        except Unusable as error:
            raise Unusable(f"{written} is not valid: {error}.") from None


def expand(value: object, environ: Mapping[str, str]) -> object:
    """A string with each `${VAR}` replaced from the environment, or by nothing; other values are unchanged."""
    if not isinstance(value, str):
        return value
    return VARIABLE.sub(lambda match: environ.get(match[1], ""), value)


def _rows(
    table: str, key: str, value: object, values: Mapping[str, object], written: str
) -> Iterator[Translated]:
    if (table, key) == ("web_search", DELAY):
        for variable, end in zip(DELAY_VARIABLES, _range(value), strict=True):
            yield Translated(variable, end, written)
    elif (table, key) == ("WebSearch", API_KEY):
        yield Translated(_key_variable(values.get("Provider")), value, written)
    elif (row := TABLES[table].get(key)) is not None:
        yield Translated(row.variable, row.read(value), written)
    else:
        raise Unusable(f"unknown setting; known are {', '.join(keys(table))}")


def keys(table: str) -> list[str]:
    """Every key of a table."""
    special = {"web_search": [DELAY], "WebSearch": [API_KEY]}
    return [*TABLES[table], *special.get(table, [])]


def _range(value: object) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise Unusable("must be two numbers of milliseconds, such as [100, 500]")
    low, high = number(value[0]), number(value[1])
    if low > high:
        raise Unusable("must have the smaller number first")
    return low, high


def _key_variable(provider: object) -> str:
    """The variable for the key of the provider. Raises `Unusable` if it needs none."""
    name = str(provider or DEFAULT_PROVIDER).strip().lower()
    secrets = [
        need.name
        for spec in PROVIDERS
        if spec.name == name
        for need in spec.needs
        if need.kind == "secret"
    ]
    if not secrets:
        raise Unusable(f"{name} needs no key")
    return secrets[0]
