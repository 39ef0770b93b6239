"""The file of headers and cookies for pages that need a login, by host: only its owner may read it."""

import os
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path

from kindly import urls
from kindly.errors import InputError, SettingsError

LoginHeaders = tuple[tuple[str, str], ...]

READABLE_BY_OTHERS = 0o077
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
HEADER_VALUE = re.compile(r"[\x20-\x7e]{1,8000}")
COOKIE_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
COOKIE_VALUE = re.compile(r"[\x21-\x3a\x3c-\x7e]{1,4000}")
VARIABLE = re.compile(r"\$\{(\w+)\}")
OWN_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "if-modified-since",
        "if-none-match",
        "proxy-authorization",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that belong to the request itself."""
MAX_HOSTS = 1_000


def read_logins(path: Path, environ: Mapping[str, str]) -> dict[str, LoginHeaders]:
    """The headers by `host` or `host:port`. `environ` has the values for `${VAR}`.

    Raises:
        SettingsError: others can read the file, or it says something else; the text shows no value.
    """
    path = path.expanduser()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read()
    except OSError as error:
        raise SettingsError(f"KINDLY_LOGINS: {path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise SettingsError("KINDLY_LOGINS is not the path of a file.") from None
    if os.name != "nt" and mode & READABLE_BY_OTHERS:
        raise SettingsError(
            f"KINDLY_LOGINS: other users of this machine can read {path}: run chmod 600 on it."
        )
    import tomllib

    try:
        table = tomllib.loads(text.decode())
    except ValueError:
        raise SettingsError(f"KINDLY_LOGINS: {path} is not valid TOML.") from None
    hosts = table.get("hosts")
    if set(table) != {"hosts"} or not isinstance(hosts, dict) or len(hosts) > MAX_HOSTS:
        raise SettingsError(
            f'KINDLY_LOGINS: {path} must have tables [hosts."wiki.example.com"] and nothing else.'
        )
    return {_host(name): _headers(name, entry, environ) for name, entry in hosts.items()}


def secrets_in(logins: Mapping[str, LoginHeaders]) -> Iterator[str]:
    """Every part of the headers that must never be shown: whole values, tokens, passwords and values of cookies."""
    for headers in logins.values():
        for name, value in headers:
            yield value
            yield from value.split()
            if name.lower() == "cookie":
                yield from (pair.partition("=")[2] for pair in value.split("; "))
            elif value.lower().startswith("basic "):
                yield from _credentials(value[6:])


def _credentials(encoded: str) -> Iterator[str]:
    try:
        plain = b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        return
    yield plain
    yield plain.partition(":")[2]


def _host(name: str) -> str:
    """The host as it is compared with an address."""
    try:
        url = urls.parse(f"https://{name}/")
    except InputError:
        url = None
    if url is None or url.target != "/" or url.netloc != name.lower():
        raise SettingsError(
            f"KINDLY_LOGINS: {name!r} is no host: write it as wiki.example.com or wiki.example.com:8443."
        )
    return url.netloc


def _headers(host: str, entry: object, environ: Mapping[str, str]) -> LoginHeaders:
    parts = entry if isinstance(entry, dict) else {}
    headers, cookies = parts.get("headers", {}), parts.get("cookies", {})
    is_known = parts and set(parts) <= {"headers", "cookies"}
    if not is_known or not isinstance(headers, dict) or not isinstance(cookies, dict):
        raise SettingsError(
            f"KINDLY_LOGINS: hosts.{host!r} takes `headers` and `cookies`, each a table of texts."
        )
    found = [(name, _text(host, name, value, environ)) for name, value in headers.items()]
    for name, value in found:
        is_own = name.lower() in OWN_HEADERS
        if is_own or not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise SettingsError(f"KINDLY_LOGINS: header {name!r} of {host!r} cannot be sent.")
    return (*found, *_cookies(host, cookies, environ))


def _cookies(host: str, cookies: Mapping[str, object], environ: Mapping[str, str]) -> LoginHeaders:
    pairs = [(name, _text(host, name, value, environ)) for name, value in cookies.items()]
    for name, value in pairs:
        if not COOKIE_NAME.fullmatch(name) or not COOKIE_VALUE.fullmatch(value):
            raise SettingsError(f"KINDLY_LOGINS: cookie {name!r} of {host!r} cannot be sent.")
    return (("Cookie", "; ".join(f"{name}={value}" for name, value in pairs)),) if pairs else ()


def _text(host: str, name: str, value: object, environ: Mapping[str, str]) -> str:
    """A value with its `${VAR}` replaced."""
    if not isinstance(value, str):
        raise SettingsError(f"KINDLY_LOGINS: {name!r} of {host!r} must be a text.")
    missing = [variable for variable in VARIABLE.findall(value) if not environ.get(variable)]
    if missing:
        raise SettingsError(
            f"KINDLY_LOGINS: {name!r} of {host!r} needs the environment variable {missing[0]}."
        )
    return VARIABLE.sub(lambda match: environ[match[1]], value)
