"""EPUB books → the text of their chapters in reading order (the spine)."""

import posixpath
import re
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import unquote
from xml.etree import ElementTree

from turbohtml import Document, Text

from kindly.errors import NoContent
from kindly.extract import ExtractOptions
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.html_fragment import picture, read_fragment
from kindly.extract.html import ExtractedText
from kindly.models import HTML_TYPES, Link, Metadata

CONTAINER: Final = "META-INF/container.xml"
MAX_CHARACTERS: Final = 2_000_000
MAX_CHAPTERS: Final = 1_000
MAX_CHAPTER: Final = 1_500_000
"""The maximum size of a chapter's markup, in bytes."""
MAX_LINKS: Final = 200
NOTE = re.compile(r"\bnoteref\b")
ABSOLUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")


def read_epub(
    archive: Archive, options: ExtractOptions, max_characters: int = MAX_CHARACTERS
) -> ExtractedText:
    """The text of a book.

    Raises:
        MediaUnsupported: it is broken.
        NoContent: none of its chapters has text.
        ExtractionFailed: it defines XML entities.
    """
    path, package = _package(archive)
    chapters: list[str] = []
    links: dict[Link, None] = {}
    hidden = characters = 0
    partial = False
    for name in _spine(package, posixpath.dirname(path)):
        if characters > max_characters or len(chapters) >= MAX_CHAPTERS:
            partial = True
            break
        if name not in archive.names:
            continue
        body = archive.read(name, MAX_CHAPTER + 1)
        partial = partial or len(body) > MAX_CHAPTER
        chapter = read_fragment(body.decode("utf-8", "replace"), options, archive.url, _prepare)
        hidden += chapter.hidden_dropped
        if chapter.text:
            chapters.append(chapter.text)
            characters += len(chapter.text)
            links.update(dict.fromkeys(chapter.links))
    if not chapters:
        raise NoContent("None of the book's chapters has text.", url=archive.url)
    if partial:
        chapters.append(f"— the book is truncated: {len(chapters)} chapters were read —")
    return ExtractedText(
        "\n\n".join(chapters), _metadata(package), tuple(links)[:MAX_LINKS], hidden, partial=partial
    )


def _prepare(document: Document) -> None:
    """Mark references to notes as web pages do, and put alternative text in place of pictures.

    Links inside the book lose their addresses, which lead nowhere.
    """
    for image in document.select("img"):
        words = picture(image.attr("alt") or "")
        image.replace_with(Text(unescape(words)))
    for link in document.select("a[href]"):
        address = link.attr("href") or ""
        is_note = NOTE.search(link.attr("epub:type") or "") or link.attr("role") == "doc-noteref"
        if is_note and address.startswith("#"):
            link.attrs["class"] = "noteref"
        elif is_note:
            link.replace_with(Text(f"[{link.text.strip().strip('[]')}]"))
        elif not ABSOLUTE.match(address) and not address.startswith("#"):
            del link.attrs["href"]


def _package(archive: Archive) -> tuple[str, ElementTree.Element]:
    """The path of the book's package file, and its parsed content."""
    container = _parsed(archive, CONTAINER)
    for item in container.iter():
        path = item.get("full-path")
        if _local(item) == "rootfile" and path:
            return path, _parsed(archive, path)
    raise archive.broken()


def _parsed(archive: Archive, name: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(archive.read_xml(name))  # noqa: S314 - entities were refused
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise archive.broken() from error


def _spine(package: ElementTree.Element, folder: str) -> Iterator[str]:
    """The paths of the chapters in reading order."""
    places = {
        item.get("id"): item.get("href", "")
        for item in package.iter()
        if _local(item) == "item" and item.get("media-type") in HTML_TYPES
    }
    for reference in package.iter():
        if _local(reference) == "itemref" and reference.get("linear") != "no":
            href = places.get(reference.get("idref"))
            if href:
                yield posixpath.normpath(posixpath.join(folder, unquote(href)))


def _metadata(package: ElementTree.Element) -> Metadata:
    properties: dict[str, list[str]] = {}
    for item in package.iter():
        if item.text and item.text.strip() and item.tag.startswith("{http://purl.org/dc/"):
            properties.setdefault(_local(item), []).append(" ".join(item.text.split())[:500])

    def first(name: str) -> str | None:
        return next(iter(properties.get(name, ())), None)

    return Metadata(
        title=first("title") or "",
        description=first("description"),
        author=", ".join(properties.get("creator", [])[:5]) or None,
        published=first("date"),
        site=first("publisher"),
        language=first("language"),
    )


def _local(item: ElementTree.Element) -> str:
    return item.tag.rpartition("}")[2]
