"""A hostile response with its expected outcome, and helpers to build responses."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import anyio.to_thread
from anyio.abc import SocketStream

from kindly.models import OutcomeKind
from tests.support.site import ARTICLE, HTML, Answer, Handler, Route, SiteRequest

OK = OutcomeKind.OK
AUTH = OutcomeKind.AUTH
EMPTY = OutcomeKind.EMPTY
NOT_FOUND = OutcomeKind.NOT_FOUND
BLOCKED = OutcomeKind.BLOCKED
RATE_LIMITED = OutcomeKind.RATE_LIMITED
TIMEOUT = OutcomeKind.TIMEOUT
TOO_LARGE = OutcomeKind.TOO_LARGE
UNSUPPORTED = OutcomeKind.UNSUPPORTED
UNREACHABLE = OutcomeKind.UNREACHABLE
REFUSED = OutcomeKind.REFUSED

GIVEN_UP = (OK, TOO_LARGE)
"""Read as far as the memory limit allows, or refused because of it."""

MARK = "ultraviolet light"
"""Words that are in the text of the article."""


@dataclass(frozen=True, slots=True)
class Case:
    """What one address serves, and how a fetch of it ends."""

    group: str
    name: str
    route: Route
    outcome: OutcomeKind | tuple[OutcomeKind, ...]
    """Several if the outcome depends on the machine."""
    says: str = ""
    """Words that the text has."""
    hides: str = ""
    """Words that no text may have."""
    seconds: float = 120.0
    """Time limit."""
    slow: bool = False
    """Whether it lasts until the time-out; then the time-out is short."""

    @property
    def outcomes(self) -> tuple[OutcomeKind, ...]:
        return self.outcome if isinstance(self.outcome, tuple) else (self.outcome,)

    @property
    def path(self) -> str:
        return f"/{self.group}/{self.name}"

    def __str__(self) -> str:
        return f"{self.group}-{self.name}"


def page(body: bytes | str = ARTICLE, content_type: str = HTML, **more: str) -> Answer:
    """An answer; `content_encoding="br"` becomes that header."""
    extra = {name.replace("_", "-"): value for name, value in more.items()}
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return Answer(content, headers={"Content-Type": content_type, **extra})


def late(make: Callable[[], Answer]) -> Handler:
    """An answer that is built at its first request."""
    made = cache(make)

    async def answer(_: SiteRequest, __: SocketStream) -> Answer:
        return await anyio.to_thread.run_sync(made)

    return answer


def raw(*pieces: bytes) -> Handler:
    """Sends these bytes and closes the connection."""

    async def answer(_: SiteRequest, stream: SocketStream) -> None:
        for piece in pieces:
            await stream.send(piece)

    return answer


def head(*lines: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    """The head of an answer as it is written here."""
    return "\r\n".join((status, *lines, "", "")).encode("latin-1")


def typed(*lines: str) -> bytes:
    """A head that names a page's type before these lines."""
    return head(f"Content-Type: {HTML}", *lines)
