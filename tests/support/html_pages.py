"""Pages, blocks and arrays for the tests of extraction."""

from datetime import UTC, datetime

import numpy as np
from turbohtml import parse

from kindly.extract import ExtractOptions
from kindly.extract.content.blocks import Blocks, read_blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.document import extract
from kindly.models import Document, Format, Page
from tests.support.paths import DATA

SAMPLES = DATA / "pages"
FETCHED_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
URL = "https://site.example/pages/one"


def page(
    body: bytes | str, *, media_type: str = "text/html", charset: str | None = None, url: str = URL
) -> Page:
    return Page(
        url=url,
        requested_url=url,
        status=200,
        media_type=media_type,
        body=body.encode() if isinstance(body, str) else body,
        fetched_at=FETCHED_AT,
        charset=charset,
    )


def read(
    body: bytes | str,
    *,
    format: Format = "markdown",
    selector: str | None = None,
    include_links: bool = True,
    include_images: bool = False,
) -> Document:
    """The document of an HTML page."""
    options = ExtractOptions(format, selector, include_links, include_images)
    return extract(page(body), options)


def rendered(markup: str) -> str:
    """The Markdown of this markup; a selector bypasses the detection of main content."""
    return read(f"<main>{markup}</main>", selector="main").text


def blocks_of(markup: str) -> Blocks:
    """The blocks of a body with this markup."""
    body = parse(f"<body>{markup}").select_one("body")
    assert body is not None
    return read_blocks(body)


def floats(*values: float) -> Floats:
    """A one-dimensional array as the classifier uses it."""
    return np.array(values, np.float32)
