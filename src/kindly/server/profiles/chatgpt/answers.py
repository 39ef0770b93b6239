"""Hits or a document → the results of profile `chatgpt`, within a number of tokens, and the ids of documents.

The id of a document is its address, so it is the same after a restart and on every replica. The id of the rest of a
long document has the position in a fragment, which no site ever gets.
"""

import re

from kindly import answer, urls
from kindly.budget import fit
from kindly.errors import InputError
from kindly.frozen import frozen
from kindly.models import Document, Hit, Hits, Passage
from kindly.server.json_schema import Json
from kindly.server.render.formatting import (
    TITLE_TOKENS,
    address,
    clip,
    dated,
    json_size,
    without_none,
)
from kindly.server.render.look_alikes import defused
from kindly.text.plain_line import MAX_ADDRESS

PART = re.compile(r"#kindly-from=([0-9]{1,9})$")


@frozen
class DocumentId:
    """Which document is meant, and from which character on."""

    url: str
    start: int = 0

    @classmethod
    def parse(cls, text: str) -> "DocumentId":
        """The id of a document as an answer gave it; any other http or https address is one too.

        Raises:
            InputError: it is no address.
        """
        part = PART.search(text)
        try:
            url = urls.parse_page(text[: part.start()] if part else text)
        except InputError as error:
            raise InputError(
                f"id must be an id of a search result. {error.detail}", field="id"
            ) from None
        return cls(str(url), int(part[1]) if part else 0)

    def __str__(self) -> str:
        return f"{self.url}#kindly-from={self.start}" if self.start else self.url


def search_json(hits: Hits, tokens: int) -> Json:
    """The results of a search, as many as `tokens` allow; each document once."""
    found: dict[str, Json] = {}
    for hit in hits.hits:
        url = _citable(hit)
        if url is not None and url not in found:
            title = clip(hit.title, TITLE_TOKENS) or urls.domain(url)
            found[url] = {"id": url, "title": title, "url": url}
    results = list(found.values())
    while results and json_size({"results": results}) > tokens:
        results.pop()
    return {"results": results}


def _citable(hit: Hit) -> str | None:
    """The address of a hit as an id; None if it is no address, or too long to be shown whole."""
    try:
        url = address(str(urls.parse_page(address(hit.url))))
    except InputError:
        return None
    return url if len(url) < MAX_ADDRESS else None


def document_json(asked: str, wanted: DocumentId, document: Document, tokens: int) -> Json:
    """A document from the wanted position on, as much of it as `tokens` allow.

    Raises:
        InputError: the position is behind the end.
    """
    if wanted.start and wanted.start >= len(document.text):
        raise InputError("id points past the end of the document.", field="id")

    def build(available: int) -> Json:
        passage = answer.cut(document.text, wanted.start, max(available, 1))
        return _shown(asked, wanted, document, passage)

    return fit(build, json_size, tokens)


def _shown(asked: str, wanted: DocumentId, document: Document, passage: Passage) -> Json:
    url = address(wanted.url)
    return {
        "id": asked,
        "title": clip(document.metadata.title, TITLE_TOKENS) or urls.domain(url),
        "text": defused(passage.text.strip("\n")),
        "url": url,
        "metadata": _metadata(wanted, document, passage),
    }


def _metadata(wanted: DocumentId, document: Document, passage: Passage) -> dict[str, str]:
    """What is known about the document, each fact as a text."""
    about = document.metadata
    is_cut = passage.start > 0 or passage.end < passage.total
    continues = passage.end < passage.total
    return without_none(
        {
            "final_url": address(document.url) if document.url != wanted.url else None,
            "published": dated(about.published),
            "author": about.author and clip(about.author, TITLE_TOKENS),
            "language": about.language and clip(about.language, TITLE_TOKENS),
            "status": document.outcome.kind.value,
            "note": document.note or None,
            "fetched_at": document.fetched_at.isoformat(timespec="seconds"),
            "content_hash": document.content_hash or None,
            "characters": f"{passage.start} to {passage.end} of {passage.total}"
            if is_cut
            else None,
            "next_id": str(DocumentId(address(wanted.url), passage.end)) if continues else None,
        }
    )
