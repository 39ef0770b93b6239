"""Files that are hard to read, read where they always are: in a worker process with a memory cap."""

import os
import zlib

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import ExtractError
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_pool import Workers
from tests.support.html_pages import page
from tests.support.paths import ROOT
from tests.support.pdf_files import line, pdf
from tests.support.zip_files import docx, epub, row, xlsx

pytestmark = pytest.mark.anyio

ENVIRON = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)}


def flate_bomb(size: int) -> bytes:
    """A PDF whose one page unpacks to this many bytes of drawing."""
    packed = zlib.compress(b"0 0 m 1 1 l S\n" * (size // 14), 9)
    whole = pdf(["%"])
    old = b"<< /Length 1 >>\nstream\n%\nendstream"
    return whole.replace(
        old,
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream" % (len(packed), packed),
    )


def deep_word(depth: int) -> bytes:
    return docx("<w:p>" * depth + "</w:p>" * depth)


BOMBS = {
    "zip": docx("", **{"word/media/x__bin": bytes(64 * 1024 * 1024)}),
    "markup": docx("", **{"word/document__xml": b"<a>" * 12_000_000}),
    "nesting": deep_word(100_000),
    "far cell": xlsx({"A": row(1, "x") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'}),
    "book": epub({"a.xhtml": "<p>" + "x" * 60_000_000}),
    "pdf stream": flate_bomb(200_000_000),
    "pdf loop": pdf(["x"]).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"),
    "deep json": b"[" * 2_000_000,
    "binary": b"\x00" * 2_000_000,
}


OUTCOMES = {
    "far cell": "Document",
    "pdf loop": "NoContent",
    "deep json": "Document",
    "binary": "MediaUnsupported",
}
"""Where a bomb is not stopped by its size or its time."""


async def ending(workers: Workers, body: bytes, media_type: str = "") -> str:
    """How reading these bytes ends: the name of a leaf, or `Document`."""
    try:
        source = page(body, media_type=media_type)
        return type(await workers.extract(source, ExtractOptions(), Deadline.after(20))).__name__
    except ExtractError as error:
        return type(error).__name__


@pytest.mark.slow
async def test_every_bomb_ends_with_a_leaf_or_text_and_the_pool_goes_on() -> None:
    ends: dict[str, str] = {}
    pool = Workers(environ=ENVIRON, size=1, timeout_s=5)
    with anyio.fail_after(120):
        async with pool as workers:
            for name, body in BOMBS.items():
                kind = "application/json" if "json" in name else ""
                ends[name] = await ending(workers, body, kind)
                assert await ending(workers, pdf([line("still here")])) == "Document"
    assert ends == {name: OUTCOMES.get(name, "ExtractionFailed") for name in BOMBS}
