import hashlib
from collections.abc import Callable

import pytest

from kindly.errors import ExtractionFailed, MediaUnsupported, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.archive import MAX_MEMBERS, Archive
from kindly.models import Document, OutcomeKind
from tests.support.html_pages import URL, page
from tests.support.zip_files import docx, encrypted, para, run, with_declared_size, zipped

pytest.importorskip("mammoth")

BODY = para(run("Tides"))
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def read(body: bytes) -> Document:
    return extract(page(body, media_type=""), ExtractOptions())


def archive_of(members: dict[str, bytes | str]) -> Archive:
    return Archive(zipped(members), url=URL, media_type="application/zip")


def test_members_are_read_by_name() -> None:
    archive = archive_of({"a.xml": "<a/>", "b.bin": b"123456"})
    assert archive.names == {"a.xml", "b.bin"}
    assert archive.read("b.bin", 3) == b"123"
    assert list(archive.chunks("b.bin", 4)) == [b"1234", b"56"]
    assert archive.read_xml("a.xml") == b"<a/>"
    assert archive.markup_bytes == 4


def test_missing_member_and_broken_archive_are_unsupported() -> None:
    with pytest.raises(MediaUnsupported):
        archive_of({"a": "b"}).read("missing")
    with pytest.raises(MediaUnsupported):
        Archive(b"PK nonsense", url=URL, media_type="application/zip")


def test_rewritten_archive_has_changed_markup_and_empty_other_members() -> None:
    archive = archive_of({"a.xml": "old", "b.xml": "kept", "c.png": "image", "skip/d.xml": "x"})
    body = archive.rewritten({"a.xml": b"new"}, without=("skip/",))
    copy = Archive(body, url=URL, media_type="application/zip")
    assert {name: copy.read(name) for name in copy.names} == {
        "a.xml": b"new",
        "b.xml": b"kept",
        "c.png": b"",
    }


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + f"]><w:document xmlns:w='w'>&j;{'<!-- word/document.xml -->'}</w:document>"
)
NOISE = hashlib.shake_256(b"noise").hexdigest(32 * 1024)
"""Longer than the window of the compression, so that repetition is not seen."""
MANY = {f"{n}.xml": "" for n in range(MAX_MEMBERS)}


BOMBS: dict[str, Callable[[], bytes]] = {
    "ratio": lambda: docx(BODY, **{"word/media/zeros__bin": bytes(8 * 1024 * 1024)}),
    "markup": lambda: docx(BODY, **{"word/big__xml": f"<x>{NOISE * 650}</x>"}),
    "members": lambda: zipped({"word/document.xml": "<x/>", **MANY}),
    "entities": lambda: docx(BODY, **{"word/document__xml": LAUGHS}),
    "entities in utf-16": lambda: docx(BODY, **{"word/document__xml": LAUGHS.encode("utf-16")}),
    "entities beside": lambda: docx(BODY, **{"word/footnotes__xml": LAUGHS}),
    "declared size": lambda: with_declared_size(
        docx(BODY), b"word/document.xml", 900 * 1024 * 1024
    ),
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_bomb_is_refused_before_unpacking(make: Callable[[], bytes]) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        read(make())
    assert caught.value.kind is OutcomeKind.TOO_LARGE


@pytest.mark.parametrize(
    "body",
    [encrypted(docx(BODY)), OLE + "EncryptedPackage".encode("utf-16-le")],
    ids=["zip", "office"],
)
def test_encrypted_file_needs_a_password(body: bytes) -> None:
    with pytest.raises(PageWalled) as caught:
        read(body)
    assert caught.value.kind is OutcomeKind.AUTH
