"""The protocol between Kindly and a browser worker: one JSON object per line, in both directions."""

import json
from dataclasses import asdict
from typing import Literal

from kindly.frozen import frozen

Problem = Literal["navigation", "download", "too_large", "gone", "driver"]
"""Why there is no page: the site did not answer, it sent a file to save, the page is too long, the browser died, or the
driver failed in another way."""


class BrokenDriverPipe(ValueError):
    """The other side sent something that is not a message of this protocol."""


@frozen
class Start:
    """The first message to a worker: how to start the browser."""

    executable: str
    flags: tuple[str, ...]
    proxy: str
    profile_root: str
    """The browser's own folder for all its files; it is deleted at the end."""
    sandbox: bool
    user_agent: str
    locale: str
    timeout_s: float
    ca_file: str = ""
    """A PEM file with additional certificate authorities."""


@frozen
class Started:
    """The browser runs."""

    version: str


@frozen
class StartFailed:
    """The browser did not start."""

    detail: str


@frozen
class Job:
    """One page to render."""

    id: int
    url: str
    user: str
    password: str
    """Credentials of this call for the filtering proxy."""
    time_s: float
    """For the whole job."""
    settle_s: float
    """The longest wait for content once the document is loaded."""
    max_chars: int
    picture: bool = False
    """A screenshot instead of the HTML."""


@frozen
class Cancel:
    """Stop rendering a page."""

    id: int


@frozen
class Rendered:
    """The visible HTML of a page, or a screenshot."""

    id: int
    url: str
    status: int
    html: str
    png: str = ""
    """Base64."""
    height: int = 0
    """Of the screenshot, in pixels."""
    page_height: int = 0
    """Of the whole page."""


@frozen
class RenderFailed:
    """A page that could not be rendered."""

    id: int
    problem: Problem
    url: str
    """The last URL that the browser requested."""
    detail: str = ""


Message = Start | Started | StartFailed | Job | Cancel | Rendered | RenderFailed
KINDS: dict[str, type[Message]] = {
    kind.__name__: kind
    for kind in (Start, Started, StartFailed, Job, Cancel, Rendered, RenderFailed)
}


def line(message: Message) -> bytes:
    """A message as one line."""
    body = {"kind": type(message).__name__, **asdict(message)}
    return json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read(raw: bytes) -> Message:
    """The message in one line.

    Raises:
        BrokenDriverPipe: it is not a message of this protocol.
    """
    try:
        body = json.loads(raw)
        kind = KINDS[body.pop("kind")]
        return kind(**body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenDriverPipe("A browser worker sent an unknown message.") from error
