"""Types of the fetch chain: one call shape for pages, one for single requests (hops). No I/O.

`Fetch` turns a `PageRequest` into a `Page`; `Hop` turns a `HopRequest` into a `HopReply`, whatever its status. Each
wrapper has the shape of what it wraps and knows only the next one.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from kindly.budget import Deadline
from kindly.errors import PageUnreachable
from kindly.frozen import frozen
from kindly.models import Page
from kindly.urls import Url
from kindly.version import __version__

USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    f"Chrome/142.0.0.0 Safari/537.36 Kindly/{__version__}"
)

MAX_COOLDOWN_S = 86_400.0
"""The longest wait that a server can impose on later requests."""


Headers = tuple[tuple[str, str], ...]


@frozen
class Logins:
    """Headers of pages that need a login, for exact hosts."""

    hosts: Mapping[str, Headers] = field(default_factory=dict, repr=False)
    """By host, with the port if it is not 443."""

    def headers_for(self, url: Url) -> Headers:
        """What is sent to an address; nothing without TLS."""
        return self.hosts.get(url.netloc, ()) if url.scheme == "https" else ()


@frozen
class FetchLimits:
    """Limits of size, time, concurrency and rate, and how requests are sent."""

    timeout_s: float = 30.0
    connect_timeout_s: float = 10.0
    max_bytes: int = 2_000_000
    """Of content, after decompression. A text page is truncated there; a file beyond its limit is refused."""
    max_file_bytes: int = 20_000_000
    """Of a PDF, an office file, a book or a picture, whose bytes are mostly not text."""
    max_wire_bytes: int = 2_000_000
    """Of the body as transferred."""
    max_redirects: int = 5
    user_agent: str = USER_AGENT
    accept_language: str = "en-US,en;q=0.9,*;q=0.5"
    concurrency: int = 64
    """Concurrent downloads, over all hosts."""
    host_concurrency: int = 8
    host_rate_per_s: float = 10.0
    """Requests per second to one public host; also the size of a burst."""
    respect_robots: bool = True
    logins: Logins = field(default_factory=Logins)
    archive_url: str | None = None
    """Where copies of dead pages are looked up; None: nowhere."""
    cache_ttl_s: float = 86_400.0
    cache_max_bytes: int = 256 * 1024 * 1024


@frozen
class PageRequest:
    """A page to fetch, and its deadline."""

    url: Url
    deadline: Deadline
    force_refresh: bool = False
    known: Page | None = None
    """The cached page; its validators make the request conditional."""
    headers: Headers = field(default=(), repr=False)
    """Sent until a redirect leaves the origin of `url`, and not again after that."""
    body: bytes | None = None
    """Posted if given; redirects are then not followed."""
    private: bool = False
    """Whether `headers` are a login, so that what they bring is not recorded."""


class Fetch(Protocol):
    """Fetches pages."""

    async def __call__(self, request: PageRequest) -> Page:
        """The page; raises a leaf of `FetchError` if there is none."""


@frozen
class HopRequest:
    """One request to one URL."""

    url: Url
    deadline: Deadline
    headers: Headers = field(default=(), repr=False)
    """Each replaces the default header of its name."""
    max_bytes: int | None = None
    """Replaces the default limit; content beyond it is truncated instead of refused."""
    body: bytes | None = None
    """Posted as JSON if given."""
    private: bool = False
    """Whether `headers` have a login."""


@frozen
class HopReply:
    """The response of one URL, redirects and failures included."""

    url: Url
    status: int
    headers: Headers = ()
    """Names in lower case."""
    body: bytes = b""
    """Decoded. Of a refusal only the beginning; of other failures empty."""
    cut: bool = False
    """Whether the body was truncated."""
    by_proxy: bool = False
    """Whether the configured proxy wrote it, not the site."""

    def header(self, name: str) -> str | None:
        """The first header of that lower-case name."""
        return next((value for key, value in self.headers if key == name), None)


class Hop(Protocol):
    """Sends one request."""

    async def __call__(self, request: HopRequest) -> HopReply:
        """The response, whatever its status; raises a leaf of `FetchError` if there is none."""


class ConnectionDropped(PageUnreachable):
    """The connection broke before the first byte of the response, so a retry is safe."""
