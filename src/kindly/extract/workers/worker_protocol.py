"""Wire protocol between the pool and its workers: a JSON header, and the page or its text as the body of a frame.

A worker parses hostile pages, so its answers are only data: no pickle, and errors by name from a table.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from dataclasses import fields as fields_of
from datetime import datetime
from typing import Any

from kindly.concurrency.pipe_frames import BrokenFrame, Message
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

Fields = dict[str, Any]

OF_METADATA = tuple(one.name for one in fields_of(Metadata))
OF_LINK = tuple(one.name for one in fields_of(Link))
PLAIN = tuple(
    one.name
    for one in fields_of(Document)
    if one.name not in {"text", "fetched_at", "how", "metadata", "links"}
)
"""Fields that are JSON values already."""

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
    options = fields["options"]
    options["questions"] = tuple(options["questions"])
    return page, ExtractOptions(**options), fields["timeout_s"]


def encode_document(document: Document) -> Message:
    """The answer with a document."""
    values = {name: getattr(document, name) for name in PLAIN}
    values["fetched_at"] = document.fetched_at.isoformat()
    values["how"] = str(document.how)
    values["metadata"] = {name: getattr(document.metadata, name) for name in OF_METADATA}
    values["links"] = [[getattr(link, name) for name in OF_LINK] for link in document.links]
    header = json.dumps({"document": values}).encode()
    return header, document.text.encode("utf-8", "surrogatepass")


def encode_error(error: KindlyError) -> Message:
    """The answer with an error."""
    fields = {name: value for name, value in vars(error).items() if isinstance(value, str)}
    return json.dumps({"error": type(error).__name__, "fields": fields}).encode(), b""


def decode_answer(message: Message) -> Document:
    """The document in an answer.

    Raises:
        KindlyError: the error that the worker raised.
        BrokenFrame: the answer is not valid.
    """
    try:
        fields = json.loads(message[0])
        if "error" in fields:
            error = ERRORS[fields["error"]](fields["fields"])
        else:
            return _document(fields["document"], message[1].decode("utf-8", "surrogatepass"))
    except (ValueError, KeyError, TypeError) as broken:
        raise BrokenFrame("The answer is not valid.") from broken
    raise error


def _document(fields: Fields, text: str) -> Document:
    return Document(
        **{
            **fields,
            "text": text,
            "fetched_at": datetime.fromisoformat(fields["fetched_at"]),
            "how": How.parse(fields["how"]),
            "metadata": Metadata(**fields["metadata"]),
            "links": tuple(Link(*link) for link in fields["links"]),
        }
    )
