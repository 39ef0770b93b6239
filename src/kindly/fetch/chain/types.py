"""What the parts of the fetch stage say to each other: one call shape for pages, one for single
hops.

`Fetch` turns a `PageRequest` into a `Page`; `Hop` turns an `HopRequest` into a `HopReply`, whatever its status. A
wrapper has the shape of what it wraps and knows only the next one. Nothing here does I/O.
"""

from dataclasses import dataclass, field
from typing import Protocol

import anyio

from kindly.budget import Deadline
from kindly.errors import PageUnreachable
from kindly.models import Page
from kindly.net.tls import Tls
from kindly.urls import Url

USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36 Kindly/1.0"
)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a fetch may cost, and how polite it is."""

    timeout_s: float = 30.0
    connect_timeout_s: float = 10.0
    max_bytes: int = 2_000_000
    """Of content, after decompression."""
    max_file_bytes: int = 20_000_000
    """Of a PDF, an office file or a book, whose bytes are mostly not text."""
    max_wire_bytes: int = 2_000_000
    """Of body as it comes over the wire."""
    cut_text: bool = False
    """Whether a page of text beyond the cap is cut there instead of refused."""
    max_redirects: int = 5
    user_agent: str = USER_AGENT
    accept_language: str = "en-US,en;q=0.9,*;q=0.5"
    concurrency: int = 64
    """Downloads at once, over all hosts."""
    host_concurrency: int = 8
    host_rate_per_s: float = 10.0
    """Requests a second to one public host; as many may come in one burst."""
    respect_robots: bool = True
    cache_ttl_s: float = 86_400.0
    cache_max_bytes: int = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Egress:
    """How traffic leaves this machine: proxies, hosts that go around them, whom TLS trusts."""

    proxy: str | None = field(default=None, repr=False)
    """For https addresses."""
    http_proxy: str | None = field(default=None, repr=False)
    """For http addresses."""
    no_proxy: tuple[str, ...] = ()
    """Host names; each stands for its subdomains too, `*` for all."""
    tls: Tls = field(default_factory=Tls)
    slots: anyio.Semaphore | None = field(default=None, repr=False)
    """What downloads share with all other traffic; without it they have a number of their own."""


Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page that is wanted, and by when."""

    url: Url
    deadline: Deadline
    force_refresh: bool = False
    known: Page | None = None
    """What is kept of it already; its validators go along when the same address is asked."""
    headers: Headers = field(default=(), repr=False)
    """Sent along until a redirect leaves the origin of `url`, and never again after that."""
    body: bytes | None = None
    """Posted when given; a redirect is then not followed."""


class Fetch(Protocol):
    """Something that gets pages."""

    async def __call__(self, wanted: PageRequest) -> Page:
        """The page; raises a leaf of `FetchError` when it cannot be had."""


@dataclass(frozen=True, slots=True)
class HopRequest:
    """One request to one address."""

    url: Url
    deadline: Deadline
    headers: Headers = field(default=(), repr=False)
    """Each takes the place of the usual header of its name."""
    max_bytes: int | None = None
    """Another cap than the usual one; content beyond it is cut off instead of refused."""
    body: bytes | None = None
    """Posted as JSON when given."""


@dataclass(frozen=True, slots=True)
class HopReply:
    """What one address answered, redirects and failures included."""

    url: Url
    status: int
    headers: Headers = ()
    """Names in lower case."""
    body: bytes = b""
    """Decoded; of a refusal only its beginning, of other failures nothing."""
    cut: bool = False
    """Whether the answer was longer."""

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for key, value in self.headers if key == name), None)


class Hop(Protocol):
    """Something that sends one request."""

    async def __call__(self, ask: HopRequest) -> HopReply:
        """The answer, whatever its status; raises a leaf of `FetchError` when there is none."""


class ConnectionDropped(PageUnreachable):
    """The connection broke before a byte of the answer came, so asking again is safe."""
