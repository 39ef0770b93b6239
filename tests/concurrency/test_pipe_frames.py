"""A message on a pipe: a length prefix, a header and a body."""

from io import BytesIO

import pytest

from kindly.concurrency.pipe_frames import (
    CHUNK_BYTES,
    MAX_BYTES,
    PREFIX,
    BrokenFrame,
    decode_prefix,
    encode_frame,
    read_frame,
)


def test_a_message_larger_than_any_document_is_refused() -> None:
    with pytest.raises(BrokenFrame):
        decode_prefix(PREFIX.pack(1, MAX_BYTES, False))


def test_the_prefix_is_followed_by_header_and_body() -> None:
    sent = b"".join(encode_frame((b"ab", b"cde"), outgrown=True))
    assert decode_prefix(sent[: PREFIX.size]) == (2, 3, True)
    assert sent[PREFIX.size :] == b"abcde"


def test_a_large_body_is_sent_in_pieces_of_bounded_size() -> None:
    body = b"x" * (2 * CHUNK_BYTES + 1)
    pieces = list(encode_frame((b"{}", body)))
    assert max(map(len, pieces)) == CHUNK_BYTES
    assert read_frame(BytesIO(b"".join(pieces))) == (b"{}", body)


def test_a_closed_pipe_ends_the_messages() -> None:
    pipe = BytesIO(b"".join(encode_frame((b"a", b"b"))))
    assert read_frame(pipe) == (b"a", b"b")
    assert read_frame(pipe) is None
