"""What Kindly and a browser worker say to each other: one JSON object a line, each way.

Both sides speak through these values only; neither knows what the other does with them.
"""

import json
from dataclasses import asdict, dataclass
from typing import Literal

Problem = Literal["navigation", "download", "too_large", "gone", "driver"]
"""Why there is no page: the address did not answer, it is a file to save, its text is too long, the browser died, or
the driver failed in another way."""


class BrokenDriverPipe(ValueError):
    """The other side does not speak this language."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the browser is to be started; the first message to a worker."""

    executable: str
    flags: tuple[str, ...]
    proxy: str
    profile_root: str
    """A folder of this browser's own; everything that it writes goes there, and it is removed at the end."""
    sandbox: bool
    user_agent: str
    locale: str
    timeout_s: float
    ca_file: str = ""
    """A PEM file of authorities to trust beside the usual ones."""


@dataclass(frozen=True, slots=True)
class Started:
    """The browser runs."""

    version: str


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The browser did not start."""

    detail: str


@dataclass(frozen=True, slots=True)
class Job:
    """One page to render."""

    id: int
    url: str
    user: str
    password: str
    """What the proxy wants of this call's requests."""
    time_s: float
    """For all of it."""
    settle_s: float
    """How long the content is waited for, once the document is there."""
    max_chars: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """A page that nobody waits for any more."""

    id: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a page shows."""

    id: int
    url: str
    status: int
    html: str


@dataclass(frozen=True, slots=True)
class RenderFailed:
    """Why a page shows nothing."""

    id: int
    problem: Problem
    url: str
    """The address that the browser was at."""
    detail: str = ""


Message = Start | Started | StartFailed | Job | Cancel | Rendered | RenderFailed
KINDS: dict[str, type[Message]] = {
    kind.__name__: kind
    for kind in (Start, Started, StartFailed, Job, Cancel, Rendered, RenderFailed)
}


def line(message: Message) -> bytes:
    """One message as it is sent."""
    body = {"kind": type(message).__name__, **asdict(message)}
    return json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read(raw: bytes) -> Message:
    """The message in one line.

    Raises:
        BrokenWire: there is none.
    """
    try:
        body = json.loads(raw)
        kind = KINDS[body.pop("kind")]
        return kind(**body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenDriverPipe("A browser worker said something unheard of.") from error
