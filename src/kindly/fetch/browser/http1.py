"""HTTP/1.1 message heads for the proxy: bytes in, start line and header fields out.

Refuses ambiguous heads (request smuggling). Pure, except for `read_head`, which reads from a stream.
"""

import re
from collections.abc import Iterable
from http import HTTPStatus

from anyio.abc import ByteReceiveStream

from kindly.frozen import frozen

MAX_HEAD_BYTES = 64 * 1024
END = b"\r\n\r\n"
REQUEST = re.compile(r"([A-Z]{3,16}) ([\x21-\x7e]+) HTTP/1\.[01]")
STATUS = re.compile(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")
FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\x00]*?)[ \t]*")
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "upgrade",
    }
)
"""Hop-by-hop fields, which are not forwarded (RFC 9110, 7.6.1)."""


class BadHead(ValueError):
    """The head is malformed, or parsers could disagree about it."""


@frozen
class Head:
    """The start line and the header fields of a message."""

    first: str
    fields: tuple[tuple[str, str], ...]
    """Names in their original spelling."""

    def header(self, name: str) -> str:
        """The first field of that lower-case name, or an empty string."""
        return next((value for key, value in self.fields if key.lower() == name), "")

    @property
    def request(self) -> tuple[str, str]:
        """Method and target of a request."""
        match = REQUEST.fullmatch(self.first)
        if match is None:
            raise BadHead
        return match[1], match[2]

    @property
    def status(self) -> int:
        """The status of a response."""
        match = STATUS.fullmatch(self.first)
        if match is None:
            raise BadHead
        return int(match[1])

    @property
    def body_bytes(self) -> int:
        """The length of a request's body; only a plain Content-Length is accepted."""
        lengths = {value for key, value in self.fields if key.lower() == "content-length"}
        if self.header("transfer-encoding") or len(lengths) > 1:
            raise BadHead
        text = lengths.pop() if lengths else "0"
        if not (text.isascii() and text.isdecimal() and len(text) < 16):
            raise BadHead
        return int(text)

    def forwarded(self, first: str, extra: Iterable[tuple[str, str]]) -> bytes:
        """The head to forward: without hop-by-hop fields, and with `extra` ones."""
        extra = tuple(extra)
        dropped = HOP_BY_HOP | {name.lower() for name, _ in extra}
        kept = (pair for pair in self.fields if pair[0].lower() not in dropped)
        lines = [first, *(f"{name}: {value}" for name, value in (*extra, *kept))]
        return "\r\n".join(lines).encode("latin-1") + END


def parse_head(raw: bytes) -> Head:
    """Parse a head, without its final blank line.

    Raises:
        BadHead: a line is folded, or is not a header field.
    """
    first, *lines = raw.decode("latin-1").split("\r\n")
    fields = []
    for line in lines:
        match = FIELD.fullmatch(line)
        if match is None:
            raise BadHead
        fields.append((match[1], match[2]))
    return Head(first, tuple(fields))


async def read_head(stream: ByteReceiveStream, received: bytes = b"") -> tuple[Head, bytes]:
    """The next head of a stream, and the bytes received after it.

    Raises:
        BadHead: it is too long or malformed.
        anyio.EndOfStream: the stream ended first.
    """
    while END not in received:
        if len(received) > MAX_HEAD_BYTES:
            raise BadHead
        received += await stream.receive()
    raw, _, rest = received.partition(END)
    return parse_head(raw), rest


def answer(status: int, *fields: str) -> bytes:
    """A complete response without a body, after which the connection is closed."""
    phrase = HTTPStatus(status).phrase
    lines = (f"HTTP/1.1 {status} {phrase}", *fields, "Content-Length: 0", "Connection: close")
    return "\r\n".join(lines).encode("latin-1") + END
