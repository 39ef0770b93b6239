"""Strict URL parsing: text → `Url`, which every parser understands in the same way; and canonical URLs as keys.

Pure. A URL that two parsers could understand differently is refused, so that the checked host is the requested host.
The SSRF guard (`fetch.guard`) decides whether an address may be contacted.
"""

import re
from dataclasses import replace
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, unquote, urlsplit

from kindly.errors import InputError, SchemeUnsupported
from kindly.frozen import frozen

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 8_000
MAX_HOST_CHARS = 253
MAX_LABEL_CHARS = 63

SAFE_IN_TARGET = "!$%&'()*+,-./:;=?@[]_~|"
"""Characters of a path or query that are not percent-encoded."""

TRACKING_PREFIXES = ("utm_", "hsa_", "mtm_")
TRACKING_NAMES = frozenset(
    {
        "__hsfp",
        "__hssc",
        "__hstc",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "dclid",
        "fbclid",
        "gad_campaignid",
        "gad_source",
        "gbraid",
        "gclid",
        "gclsrc",
        "igsh",
        "igshid",
        "li_fat_id",
        "mc_cid",
        "mc_eid",
        "mkt_tok",
        "msclkid",
        "oly_anon_id",
        "oly_enc_id",
        "pk_campaign",
        "pk_cid",
        "pk_content",
        "pk_keyword",
        "pk_kwd",
        "pk_medium",
        "pk_source",
        "pk_vid",
        "srsltid",
        "ttclid",
        "twclid",
        "vero_conv",
        "vero_id",
        "wbraid",
        "wickedid",
        "yclid",
    }
)
"""Parameters that say where a reader comes from and never which page is meant; names that a site may use itself, such
as `ref` or `source`, are not among them."""

UNSAFE = re.compile(r"[\\\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
AUTHORITY_END = re.compile(r"[/?#]")
PORT = re.compile(r"[1-9][0-9]{0,4}")
ASCII_LABEL = re.compile(r"[a-z0-9_\-]{1,63}")
NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")


@frozen
class Url:
    """An http or https URL in the form in which it is requested."""

    scheme: str
    host: str
    """Lower-case ASCII, without a final dot; an IPv6 address without its brackets."""
    port: int
    target: str
    """Path and query, percent-encoded, from the first slash on."""

    def __str__(self) -> str:
        return self.origin + self.target

    @property
    def is_default_port(self) -> bool:
        return self.port == DEFAULT_PORTS[self.scheme]

    @property
    def netloc(self) -> str:
        """Host and port as in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.is_default_port else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The IP address, if the host is one."""
        try:
            return IPv6Address(self.host) if ":" in self.host else IPv4Address(self.host)
        except AddressValueError:
            return None


def parse(raw: str) -> Url:
    """Parse a URL. Spaces around it are ignored, and its fragment is dropped.

    Raises:
        InputError: it is not an http or https URL, or parsers would disagree about it.
    """
    text = raw.strip(" ")
    _refuse_unsafe_characters(text)
    scheme, rest = _split_scheme(text)
    end = AUTHORITY_END.search(rest)
    authority = rest if end is None else rest[: end.start()]
    host, port = _host_and_port(authority, scheme)
    target = _target("" if end is None else rest[end.start() :])
    url = Url(scheme, host, port, target)
    if len(str(url)) > MAX_URL_CHARS:
        raise _too_long()
    return url


def parse_page(raw: str) -> Url:
    """Parse the URL of a page that is to be read: without tracking parameters, so that a page has one address.

    Raises:
        InputError: as for `parse`.
    """
    url = parse(raw)
    return replace(url, target=without_tracking(url.target))


def without_tracking(address: str) -> str:
    """An address, or its path and query, without tracking parameters; everything else stays as it is written."""
    before, hash_mark, fragment = address.partition("#")
    path, _, query = before.partition("?")
    parameters = query.split("&")
    kept = [parameter for parameter in parameters if not _is_tracking(parameter)]
    if len(kept) == len(parameters):
        return address
    return f"{path}{'?' if kept else ''}{'&'.join(kept)}{hash_mark}{fragment}"


def join(base: Url, location: str) -> Url:
    """Resolve a `Location` header against `base`. Spaces inside it are percent-encoded first.

    Raises:
        InputError: the result is not an http or https URL, or parsers would disagree about it.
    """
    text = location.strip(" ").replace(" ", "%20")
    if SCHEME.match(text):
        return parse(text)
    if text.startswith("//"):
        return parse(f"{base.scheme}:{text}")
    path, _, _ = base.target.partition("?")
    if text.startswith("/"):
        return parse(base.origin + text)
    if not text or text.startswith("#"):
        return base
    if text.startswith("?"):
        return parse(base.origin + path + text)
    return parse(base.origin + path[: path.rfind("/") + 1] + text)


def canonical(url: str) -> str:
    """A key for deduplication, equal for two spellings of one page; not a URL to request.

    Without `www.`, default port, fragment, tracking parameters and trailing slash. A text that cannot be parsed is its
    own key.
    """
    try:
        parsed = parse(url)
    except InputError:
        return url
    path, _, query = without_tracking(parsed.target).partition("?")
    kept = "&".join(filter(None, query.split("&")))
    netloc = parsed.netloc.removeprefix("www.")
    return f"{parsed.scheme}://{netloc}{path.rstrip('/')}{'?' if kept else ''}{kept}"


def domain(url: str) -> str:
    """The host without `www.`; empty if there is none."""
    try:
        host = parse(url).host
    except InputError:
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            return ""
    return host.removeprefix("www.")


def _is_tracking(parameter: str) -> bool:
    name = unquote(parameter.partition("=")[0]).lower()
    return is_tracking_name(name)


def is_tracking_name(name: str) -> bool:
    """Whether a parameter of this lower-case name only tracks readers."""
    return name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES)


def _refused(sentence: str) -> InputError:
    return InputError(sentence, field="url")


def _too_long() -> InputError:
    return _refused(f"The URL is longer than {MAX_URL_CHARS} characters; use a shorter one.")


def _refuse_unsafe_characters(text: str) -> None:
    if not text:
        raise _refused("The URL is empty; give an http or https address.")
    if len(text) > MAX_URL_CHARS:
        raise _too_long()
    unsafe = UNSAFE.search(text)
    if unsafe is None:
        return
    if unsafe[0] == "\\":
        raise _refused("The URL has a backslash; write it as %5C, or as / if a slash is meant.")
    if 0xD800 <= ord(unsafe[0]) <= 0xDFFF:
        raise _refused("The URL has a lone surrogate (half a character); remove it.")
    raise _refused("The URL has a space or control character; percent-encode it.")


def _split_scheme(text: str) -> tuple[str, str]:
    match = SCHEME.match(text)
    if match is None:
        raise _refused("The URL has no scheme; start it with https:// or http://.")
    scheme = match[1].lower()
    if scheme not in DEFAULT_PORTS:
        raise SchemeUnsupported("Only http and https URLs can be fetched.", field="url")
    rest = text[match.end() :]
    if not rest.startswith("//"):
        raise _refused(f"The URL must have two slashes after {scheme}: .")
    return scheme, rest[2:]


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        raise _refused("The URL contains a user name or password; remove everything up to the @.")
    if "%" in authority:
        raise _refused(
            "The URL's host is percent-encoded or has a zone; write the plain host name."
        )
    if authority.startswith("["):
        literal, bracket, after = authority[1:].partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise _refused("The URL's IPv6 address is not closed by a bracket.")
        return _ipv6(literal), _port(after.partition(":"), scheme)
    host, colon, port = authority.partition(":")
    return _host(host), _port((host, colon, port), scheme)


def _port(split: tuple[str, str, str], scheme: str) -> int:
    _, colon, text = split
    if not colon:
        return DEFAULT_PORTS[scheme]
    if not PORT.fullmatch(text) or int(text) > 65_535:
        raise _refused("The URL's port must be a number from 1 to 65535.")
    return int(text)


def _ipv6(literal: str) -> str:
    try:
        return IPv6Address(literal).compressed
    except AddressValueError as error:
        raise _refused("The URL's bracketed host is not an IPv6 address.") from error


def _host(text: str) -> str:
    if not text:
        raise _refused("The URL has no host.")
    if len(text) > MAX_HOST_CHARS + 1:
        raise _refused(f"The URL's host is longer than {MAX_HOST_CHARS} characters.")
    labels = [_label(label) for label in text.removesuffix(".").split(".")]
    host = ".".join(labels)
    if len(host) > MAX_HOST_CHARS:
        raise _refused(f"The URL's host is longer than {MAX_HOST_CHARS} characters.")
    if NUMERIC_LABEL.fullmatch(labels[-1]):
        return _ipv4(text if text.endswith(".") else host)
    if labels[-1].strip("-") != labels[-1]:
        raise _refused("The URL's host ends in a part that begins or ends with a hyphen.")
    return host


def _ipv4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except AddressValueError as error:
        raise _refused(
            "The URL's host ends in a number but is not a plain IPv4 address of four decimal parts."
        ) from error


def _label(text: str) -> str:
    if not text:
        raise _refused("The URL's host has an empty part; remove the extra dot.")
    lowered = text.lower() if text.isascii() else _punycode(text)
    if not ASCII_LABEL.fullmatch(lowered):
        raise _refused("The URL's host has a part that is too long or contains invalid characters.")
    if lowered.startswith("xn--") and text.isascii():
        _check_punycode(lowered)
    return lowered


def _punycode(label: str) -> str:
    """The Punycode form of an international label; look-alikes of plain ASCII are refused."""
    if len(label) > MAX_LABEL_CHARS:
        raise _refused("The URL's host has a part that is too long.")
    import idna

    try:
        encoded = idna.encode(label, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise _refused("The URL's host is not a valid international name.") from error
    if not encoded.startswith("xn--") or "." in encoded:
        raise _refused(
            "The URL's host uses look-alike characters; write it in plain letters, digits and dots."
        )
    return encoded


def _check_punycode(label: str) -> None:
    import idna

    try:
        idna.ulabel(label)
    except (idna.IDNAError, UnicodeError) as error:
        raise _refused("The URL's host has an invalid xn-- part.") from error


def _target(text: str) -> str:
    sent, _, _ = text.partition("#")
    path, mark, query = sent.partition("?")
    plain = _without_dot_segments(path or "/")
    return quote(plain + mark + query, safe=SAFE_IN_TARGET)


def _without_dot_segments(path: str) -> str:
    """`path` with `.` and `..` resolved (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for index, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        if plain == ".." and kept:
            kept.pop()
        elif plain not in {".", ".."}:
            kept.append(segment)
        if plain in {".", ".."} and index == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)
