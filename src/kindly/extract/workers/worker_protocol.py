"""What crosses the pipe to a worker process: a JSON header and a block of bytes, each with its length.

The worker reads hostile pages, so what it sends back is never more than data: no pickles, errors by name from a table.
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

LENGTHS = struct.Struct(">II?")
MAX_BYTES = 256 * 1024 * 1024
PIECE_BYTES = 256 * 1024

Message = tuple[bytes, bytes]
"""Header as JSON, and the body of a page or the text of a document."""

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
    """The other side sent something that is no message."""


def packed(message: Message, *, spent: bool = False) -> Iterator[bytes]:
    """A message as the bytes to send, in pieces, so that a large one is not held twice.

    `spent` says that its sender is not worth another.
    """
    header, block = message
    yield LENGTHS.pack(len(header), len(block), spent) + header
    for start in range(0, len(block), PIECE_BYTES):
        yield block[start : start + PIECE_BYTES]


def lengths(prefix: bytes) -> tuple[int, int, bool]:
    """What stands at the start of a message: its two lengths, and whether its sender is spent."""
    header, block, spent = LENGTHS.unpack(prefix)
    if header + block > MAX_BYTES:
        raise BrokenWorkerPipe("A message is larger than any document.")
    return header, block, spent


def request(page: Page, options: ExtractOptions, timeout_s: float) -> Message:
    """The message that asks for an extraction."""
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


def read_request(message: Message) -> tuple[Page, ExtractOptions, float]:
    """What was asked."""
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


def answer(document: Document) -> Message:
    """The message that brings a document."""
    fields = asdict(document)
    text = fields.pop("text")
    fields["fetched_at"] = document.fetched_at.isoformat()
    fields["how"] = str(document.how)
    return json.dumps({"document": fields}).encode(), text.encode("utf-8", "surrogatepass")


def failure(error: KindlyError) -> Message:
    """The message that brings an error."""
    fields = {name: value for name, value in vars(error).items() if isinstance(value, str)}
    return json.dumps({"error": type(error).__name__, "fields": fields}).encode(), b""


def read_answer(message: Message) -> Document:
    """The document of an answer.

    Raises:
        KindlyError: the leaf that the worker raised.
        BrokenWire: the answer is not of the promised shape.
    """
    try:
        fields = json.loads(message[0])
        if "error" in fields:
            error = ERRORS[fields["error"]](fields["fields"])
        else:
            return _document(fields["document"], message[1].decode("utf-8", "surrogatepass"))
    except (ValueError, KeyError, TypeError) as broken:
        raise BrokenWorkerPipe("The answer is not of the promised shape.") from broken
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
