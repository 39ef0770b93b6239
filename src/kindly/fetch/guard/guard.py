"""The SSRF guard: which URLs and addresses may be contacted. Refuses everything that is not public.

The rules are tables with their source beside each line (`reserved.py`). A URL is checked at these points:

- `Redirects` calls `check` for every hop before it is requested. This is *the* check.
- `Fetcher` and `BrowserPool` call `check` for the requested URL first: the cache, the library or a loader's API can
  answer without a request to that URL, and no browser needs to start for a refused one.
- Code that opens a connection calls `resolve` just before and dials only the addresses it returns, so that no later
  DNS answer can change them (`dial.py`, and the browser's proxy, which also calls `check` for each connection).
"""

from collections.abc import Iterable, Iterator
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Protocol

from kindly.errors import AddressRefused, InputError, PageUnreachable, SettingsError
from kindly.fetch.guard.reserved import (
    EMBEDDED_IPV4,
    ISATAP_IDS,
    LOCAL_NAT64,
    NEVER,
    NOT_PUBLIC,
    PUBLIC_IPV6,
    RESERVED_NAMES,
    UNSAFE_PORTS,
)
from kindly.frozen import frozen
from kindly.redact import without_credentials
from kindly.urls import Url, parse

Address = IPv4Address | IPv6Address


class Resolver(Protocol):
    """Resolves host names."""

    async def __call__(self, host: str, port: int) -> Iterable[str]:
        """The addresses of a name; raises OSError if it has none."""


async def system_resolver(host: str, port: int) -> list[str]:
    """The addresses that this machine's resolver gives, in its order."""
    import socket

    from anyio import getaddrinfo

    answers = await getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in answers))


@frozen
class GuardPolicy:
    """Hosts, domains and ports that the user allowed or blocked."""

    allow_private: tuple[str, ...] = ()
    """`host` or `host:port`: private hosts that may be fetched; without a port, on every port."""
    blocked_domains: tuple[str, ...] = ()
    """Each includes its subdomains."""
    allowed_domains: tuple[str, ...] = ()
    """If not empty, only these and their subdomains may be fetched."""
    blocked_ports: frozenset[int] = UNSAFE_PORTS


class Guard:
    """Decides, from its policy and the tables, which addresses may be contacted."""

    def __init__(self, policy: GuardPolicy, resolver: Resolver = system_resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._opened = frozenset(parse_opened(entry) for entry in policy.allow_private)
        self._blocked = tuple(parse_domain(entry) for entry in policy.blocked_domains)
        self._allowed = tuple(parse_domain(entry) for entry in policy.allowed_domains)

    def is_opened(self, host: str, port: int) -> bool:
        """Whether the user allowed this private host by name."""
        return (host, port) in self._opened or (host, None) in self._opened

    def check(self, url: Url) -> None:
        """Check everything that needs no DNS look-up.

        Raises:
            AddressRefused: the policy does not allow this URL.
        """
        self._check_domain(url)
        opened = self.is_opened(url.host, url.port)
        address = url.address
        if address is not None:
            self._checked(address, url.host, url.port)
        elif not opened and (why := reserved_name(url.host)):
            raise _refused(url.host, url.port, why)
        if not opened and url.port in self._policy.blocked_ports:
            raise AddressRefused(
                f"Port {url.port} is reserved for another service and may not be fetched.",
                url=str(url),
            )

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses to dial for a host, each of them checked.

        Raises:
            AddressRefused: one of them is not public.
            PageUnreachable: the name has no address.
        """
        try:
            return (self._checked(ip_address(host), host, port),)
        except ValueError:
            pass
        if not self.is_opened(host, port) and (why := reserved_name(host)):
            raise _refused(host, port, why)
        try:
            answers = tuple(await self._resolver(host, port))
        except (OSError, UnicodeError) as error:
            raise PageUnreachable(
                f"The host name {host} could not be resolved.", url=host
            ) from error
        if not answers:
            raise PageUnreachable(f"The host name {host} has no address.", url=host)
        return tuple(self._checked_answer(answer, host, port) for answer in answers)

    def _checked_answer(self, answer: str, host: str, port: int) -> str:
        try:
            return self._checked(ip_address(answer.replace("%", " ")), host, port)
        except ValueError as error:
            raise _refused(
                host, port, "its name resolves to something that is not an IP address"
            ) from error

    def _checked(self, address: Address, host: str, port: int) -> str:
        if why := next(filter(None, (_matching(NEVER, one) for one in _carried(address))), ""):
            raise AddressRefused(
                f"{host} leads to {why}, which is never fetched; use a public address.", url=host
            )
        if not self.is_opened(host, port) and (why := why_not_public(address)):
            raise _refused(host, port, f"it leads to {why}")
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return str(mapped or address)

    def _check_domain(self, url: Url) -> None:
        if _in_domains(url.host, self._blocked):
            raise AddressRefused(f"{url.host} is on the list of blocked domains.", url=str(url))
        if not self._allowed or self.is_opened(url.host, url.port):
            return
        if not _in_domains(url.host, self._allowed):
            raise AddressRefused(f"{url.host} is not on the list of allowed domains.", url=str(url))


def parse_opened(entry: str) -> tuple[str, int | None]:
    """Host and port of one `KINDLY_ALLOW_PRIVATE` entry, in the spelling of `Url`.

    Raises:
        SettingsError: it is not `host` or `host:port`.
    """
    text = entry.strip().lower()
    host, port = text, ""
    if text.startswith("["):
        host, _, after = text[1:].partition("]")
        port = after.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if not host or any(char in host for char in "/@*[]% ") or (port and not port.isdecimal()):
        raise SettingsError(
            f"KINDLY_ALLOW_PRIVATE has {without_credentials(entry)!r}; each entry must be a host or host:port, "
            "such as 10.0.0.5:8080."
        )
    try:
        host = str(ip_address(host))
    except ValueError:
        host = host.rstrip(".")
    return host, int(port) if port else None


def parse_domain(entry: str) -> str:
    """The host of one entry of a domain list, in the spelling of `Url`; a URL and a leading `*.` are accepted.

    Raises:
        SettingsError: it names no host, and would silently have no effect.
    """
    text = entry.strip().removeprefix("*.").strip(".")
    bracketed = f"[{text}]" if text.count(":") > 1 and not text.startswith(("[", "http")) else text
    try:
        url = parse(bracketed if "://" in bracketed else f"http://{bracketed}/")
    except InputError:
        url = None
    if url is None or ("://" not in text and url.target != "/"):
        raise SettingsError(
            "KINDLY_BLOCKED_DOMAINS or KINDLY_ALLOWED_DOMAINS has "
            f"{without_credentials(entry)!r}; each entry must be a domain, such as example.com."
        )
    return url.host


def reserved_name(host: str) -> str:
    """Why a name belongs to a private network; empty if it does not."""
    if "." not in host:
        return "a name without a dot belongs to a local network"
    for suffix, why in RESERVED_NAMES:
        if host == suffix or host.endswith("." + suffix):
            return why
    return ""


def why_not_public(address: Address) -> str:
    """Why an address is not public global unicast; empty if it is."""
    plain = _unwrapped(address)
    if why := _matching(NOT_PUBLIC, plain):
        return why
    if isinstance(plain, IPv4Address):
        return ""
    if plain not in PUBLIC_IPV6:
        return "an address outside global unicast (RFC 4291)"
    if (int(plain) >> 32) & 0xFFFF_FFFF in ISATAP_IDS:
        return "an ISATAP tunnel (RFC 5214)"
    return ""


def _unwrapped(address: Address) -> Address:
    """The IPv4 address embedded in an IPv6 address, as the table says; else the address itself."""
    if isinstance(address, IPv6Address):
        for network in EMBEDDED_IPV4:
            if address in network:
                return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _carried(address: Address) -> Iterator[Address]:
    """The address and every IPv4 address that it may reach through a mapping or a tunnel."""
    yield _unwrapped(address)
    if isinstance(address, IPv4Address):
        return
    number = int(address)
    if address.sixtofour is not None:  # RFC 3056
        yield address.sixtofour
    if address.teredo is not None:  # RFC 4380: server, client
        yield from address.teredo
    if address in LOCAL_NAT64:  # RFC 6052, 2.2: around the 64th bit
        yield IPv4Address((number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF)
    if address not in PUBLIC_IPV6 or number >> 32 & 0xFFFF_FFFF in ISATAP_IDS:
        yield IPv4Address(number & 0xFFFF_FFFF)


def _matching(table: Iterable[tuple[IPv4Network | IPv6Network, str]], address: Address) -> str:
    return next((why for network, why in table if address in network), "")


def _in_domains(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == name or host.endswith("." + name) for name in domains)


def _refused(host: str, port: int, why: str) -> AddressRefused:
    named = f"[{host}]" if ":" in host else host
    return AddressRefused(
        f"{host} may not be fetched: {why}. Use a public address; to allow this one, set "
        f"KINDLY_ALLOW_PRIVATE={named}:{port}.",
        url=host,
    )
