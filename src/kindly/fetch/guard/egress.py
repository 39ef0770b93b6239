"""Egress: how page traffic leaves this machine. The proxy settings and a URL in, the forward proxy to use or None out.

Pure, and the same for the HTTP client and the browser. The guard does not check the proxy's own address: the user
chose it.
"""

from base64 import b64encode
from dataclasses import field
from urllib.parse import unquote, urlsplit

import anyio

from kindly.errors import InputError, SettingsError
from kindly.frozen import frozen
from kindly.net.tls import Tls
from kindly.urls import Url, parse


@frozen
class Egress:
    """Proxies, hosts that bypass them, trusted certificates, and the connection limit of the whole program."""

    proxy: str | None = field(default=None, repr=False)
    """For https URLs."""
    http_proxy: str | None = field(default=None, repr=False)
    """For http URLs."""
    no_proxy: tuple[str, ...] = ()
    """Host names that bypass the proxy, with their subdomains; `*` is every host."""
    tls: Tls = field(default_factory=Tls)
    slots: anyio.Semaphore | None = field(default=None, repr=False)
    """Limits downloads together with all other traffic; without it, downloads have their own limit."""


@frozen
class Upstream:
    """A forward proxy and our credentials for it."""

    url: Url
    auth: tuple[str, str] | None = field(default=None, repr=False)
    """User and password."""

    @property
    def authorization(self) -> str:
        """The value of `Proxy-Authorization`, or an empty string."""
        if self.auth is None:
            return ""
        return f"Basic {b64encode(':'.join(self.auth).encode()).decode()}"


def upstream_of(egress: Egress, url: Url) -> Upstream | None:
    """The proxy for a URL; None for a direct connection.

    Raises:
        SettingsError: the proxy's address is no http or https URL.
    """
    proxy = egress.proxy if url.scheme == "https" else egress.http_proxy
    if proxy is None or _bypasses(url.host, egress.no_proxy):
        return None
    return parse_upstream(proxy)


def parse_upstream(address: str) -> Upstream:
    """A proxy's address, with or without `user:password@`.

    Raises:
        SettingsError: it is no http or https URL.
    """
    try:
        parts = urlsplit(address)
        url = parse(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    except (ValueError, InputError) as error:
        raise SettingsError("HTTPS_PROXY must be an http:// or https:// address.") from error
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Upstream(url, auth)


def _bypasses(host: str, no_proxy: tuple[str, ...]) -> bool:
    names = (name.strip().lower().lstrip("*").lstrip(".") for name in no_proxy)
    return any(not name or host == name or host.endswith("." + name) for name in names)
