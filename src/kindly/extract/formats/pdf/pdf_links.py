"""Links of a PDF page: annotations with an address, and the words that they cover."""

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_words import Word


class PageLink(NamedTuple):
    """An address and the area that opens it."""

    address: str
    area: Box


def read_links(document: Any, page: Any, limit: int) -> list[PageLink]:
    """The first links of a page to web addresses."""
    from pypdfium2 import raw  # type: ignore[import-untyped]

    position, link, area = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
    found: list[PageLink] = []
    while len(found) < limit and raw.FPDFLink_Enumerate(page.raw, position, link):
        address = _address(document, link)
        if address.startswith(("http://", "https://")):
            raw.FPDFLink_GetAnnotRect(link, area)
            left, right = sorted((area.left, area.right))
            bottom, top = sorted((area.bottom, area.top))
            found.append(PageLink(address, Box(left, bottom, right, top)))
    return found


def with_links(lines: Sequence[list[Word]], links: Sequence[PageLink]) -> list[list[Word]]:
    """The words, with the address of the link that they are in."""
    if not links:
        return list(lines)
    return [[_linked(word, links) for word in line] for line in lines]


def _linked(word: Word, links: Sequence[PageLink]) -> Word:
    x, y = (word.left + word.right) / 2, (word.bottom + word.top) / 2
    for link in links:
        if link.area.holds(x, y):
            return word._replace(link=link.address)
    return word


def _address(document: Any, link: Any) -> str:
    from pypdfium2 import raw

    action = raw.FPDFLink_GetAction(link)
    length = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
    buffer = ctypes.create_string_buffer(length)
    raw.FPDFAction_GetURIPath(document.raw, action, buffer, length)
    return buffer.value.decode("utf-8", "replace").strip()
