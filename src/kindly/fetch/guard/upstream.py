"""Which proxy a page's traffic leaves through: an address and the user's settings in, one `Upstream` or none out.

Pure, and the same for every client of pages. The proxy itself is the user's choice and is not checked by the guard.
"""

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from kindly.errors import InputError, SettingsError
from kindly.fetch.chain.types import Egress
from kindly.urls import Url, parse


@dataclass(frozen=True, slots=True)
class Upstream:
    """A forward proxy, and who we are to it."""

    url: Url
    auth: tuple[str, str] | None = field(default=None, repr=False)
    """User and password."""

    @property
    def authorization(self) -> str:
        """The value of `Proxy-Authorization`, or nothing."""
        if self.auth is None:
            return ""
        return f"Basic {b64encode(':'.join(self.auth).encode()).decode()}"


def upstream_of(egress: Egress, url: Url) -> Upstream | None:
    """The proxy for an address; none when it is dialled itself.

    Raises:
        SettingsError: the proxy's address is no http or https address.
    """
    proxy = egress.proxy if url.scheme == "https" else egress.http_proxy
    if proxy is None or _bypasses(url.host, egress.no_proxy):
        return None
    return parse_upstream(proxy)


def parse_upstream(address: str) -> Upstream:
    """A proxy's address, with or without `user:password@`.

    Raises:
        SettingsError: it is no http or https address.
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
