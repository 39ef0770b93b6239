"""Frames of messages on the pipe between the server and its child processes: a length prefix, a header and a body.

Child processes import this before anything else, so it needs nothing but the standard library.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

PREFIX = struct.Struct(">II?")
"""Length of the header, length of the body, and whether the sender has outgrown its memory limit."""
MAX_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 256 * 1024

Message = tuple[bytes, bytes]
"""The header as JSON, and the body, which is not decoded."""


class BrokenFrame(Exception):
    """The other side sent something that is not a valid message."""


def encode_frame(message: Message, *, outgrown: bool = False) -> Iterator[bytes]:
    """The bytes of a message, in chunks, so that a large body is not copied as a whole.

    `outgrown`: the child process has grown too large; replace it.
    """
    header, body = message
    start = PREFIX.pack(len(header), len(body), outgrown) + header
    if len(body) <= CHUNK_BYTES:
        yield start + body
        return
    yield start
    for first in range(0, len(body), CHUNK_BYTES):
        yield body[first : first + CHUNK_BYTES]


def decode_prefix(prefix: bytes) -> tuple[int, int, bool]:
    """The lengths of header and body, and whether the sender has outgrown its limit.

    Raises:
        BrokenFrame: the message is too large.
    """
    header, body, outgrown = PREFIX.unpack(prefix)
    if header + body > MAX_BYTES:
        raise BrokenFrame("The message is larger than any document.")
    return header, body, outgrown


def read_frame(pipe: BinaryIO) -> Message | None:
    """The next message of a pipe; None if it is closed."""
    prefix = pipe.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    header, body, _ = decode_prefix(prefix)
    return pipe.read(header), pipe.read(body)
