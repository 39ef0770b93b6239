"""Wire protocol between the pool and its workers: a length prefix, a JSON header and a body of bytes.

A worker parses hostile pages, so its answers are only data: no pickle, and errors by name from a table.
"""

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kindly.errors import (
    ExtractionFailed,
    InputError,
    KindlyError,
    MediaUnsupported,
    NeedsBrowser,
    NoContent,
    PageWalled,
    SelectorNotMatched,
)
from kindly.extract import ExtractOptions
from kindly.models import Document, How, Link, Metadata, OutcomeKind, Page

PREFIX = struct.Struct(">II?")
"""Length of the header, length of the body, and whether the sender has outgrown its memory limit."""
MAX_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 256 * 1024

Message = tuple[bytes, bytes]
"""The header as JSON, and the body: the bytes of a page or the text of a document."""

Fields = dict[str, Any]

ERRORS: dict[str, Callable[[Fields], KindlyError]] = {
    "InputError": lambda f: InputError(f["detail"], field=f["field"]),
    "MediaUnsupported": lambda f: MediaUnsupported(
        f["detail"], url=f["url"], media_type=f["media_type"]
    ),
    "NeedsBrowser": lambda f: NeedsBrowser(f["detail"], url=f["url"]),
    "NoContent": lambda f: NoContent(f["detail"], url=f["url"]),
    "PageWalled": lambda f: PageWalled(f["detail"], url=f["url"], wall=OutcomeKind(f["wall"])),
    "SelectorNotMatched": lambda f: SelectorNotMatched(
        f["detail"], url=f["url"], selector=f["selector"]
    ),
    "ExtractionFailed": lambda f: ExtractionFailed(f["detail"], url=f["url"]),
}


class BrokenWorkerPipe(Exception):
    """The other side sent something that is not a valid message."""


def encode_message(message: Message, *, outgrown: bool = False) -> Iterator[bytes]:
    """The bytes of a message, in chunks, so that a large body is not copied as a whole.

    `outgrown`: the worker has grown too large; replace it.
    """
    header, body = message
    yield PREFIX.pack(len(header), len(body), outgrown) + header
    for start in range(0, len(body), CHUNK_BYTES):
        yield body[start : start + CHUNK_BYTES]


def decode_prefix(prefix: bytes) -> tuple[int, int, bool]:
    """The lengths of header and body, and whether the sender has outgrown its limit.

    Raises:
        BrokenWorkerPipe: the message is too large.
    """
    header, body, outgrown = PREFIX.unpack(prefix)
    if header + body > MAX_BYTES:
        raise BrokenWorkerPipe("The message is larger than any document.")
    return header, body, outgrown


def encode_request(page: Page, options: ExtractOptions, timeout_s: float) -> Message:
    """The message that requests an extraction."""
    fields = {
        "page": {
            "url": page.url,
            "status": page.status,
            "media_type": page.media_type,
            "fetched_at": page.fetched_at.isoformat(),
            "charset": page.charset,
            "how": str(page.how),
            "composed": page.composed,
            "cut": page.cut,
        },
        "options": asdict(options),
        "timeout_s": timeout_s,
    }
    return json.dumps(fields).encode(), page.body


def decode_request(message: Message) -> tuple[Page, ExtractOptions, float]:
    """The page, the options and the time limit of a request."""
    fields = json.loads(message[0])
    sent = fields["page"]
    page = Page(
        **{
            **sent,
            "fetched_at": datetime.fromisoformat(sent["fetched_at"]),
            "how": How.parse(sent["how"]),
        },
        requested_url=sent["url"],
        body=message[1],
    )
    return page, ExtractOptions(**fields["options"]), fields["timeout_s"]


def encode_document(document: Document) -> Message:
    """The answer with a document."""
    fields = asdict(document)
    text = fields.pop("text")
    fields["fetched_at"] = document.fetched_at.isoformat()
    fields["how"] = str(document.how)
    return json.dumps({"document": fields}).encode(), text.encode("utf-8", "surrogatepass")


def encode_error(error: KindlyError) -> Message:
    """The answer with an error."""
    fields = {name: value for name, value in vars(error).items() if isinstance(value, str)}
    return json.dumps({"error": type(error).__name__, "fields": fields}).encode(), b""


def decode_answer(message: Message) -> Document:
    """The document in an answer.

    Raises:
        KindlyError: the error that the worker raised.
        BrokenWorkerPipe: the answer is not valid.
    """
    try:
        fields = json.loads(message[0])
        if "error" in fields:
            error = ERRORS[fields["error"]](fields["fields"])
        else:
            return _document(fields["document"], message[1].decode("utf-8", "surrogatepass"))
    except (ValueError, KeyError, TypeError) as broken:
        raise BrokenWorkerPipe("The answer is not valid.") from broken
    raise error


def _document(fields: Fields, text: str) -> Document:
    return Document(
        **{
            **fields,
            "text": text,
            "fetched_at": datetime.fromisoformat(fields["fetched_at"]),
            "how": How.parse(fields["how"]),
            "metadata": Metadata(**fields["metadata"]),
            "links": tuple(Link(**link) for link in fields["links"]),
        }
    )
