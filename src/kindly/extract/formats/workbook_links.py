"""Links of the cells in an Excel workbook: their addresses are in a part beside each sheet."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Final

from kindly.extract.formats.archive import Archive
from kindly.extract.formats.workbook import WORKBOOK, column_number

MAX_PART: Final = 2_000_000
TAG = re.compile(r"<(?:\w+:)?(Relationship|sheet)\s([^>]*)>")
ATTRIBUTE = re.compile(r"(?:\w+:)?(\w+)\s*=\s*[\"']([^\"']*)[\"']")
CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})(?::|\Z)")

CellLinks = Mapping[tuple[int, int], str]
"""The addresses of cells, by row and column, counted from 0."""


def links_of_sheets(
    archive: Archive, found: Mapping[str, Sequence[tuple[str, str]]]
) -> dict[str, CellLinks]:
    """The links of each sheet by its name; `found` are cells and the numbers of their links, by the sheet's part."""
    if not any(found.values()):
        return {}
    parts = _related(archive, WORKBOOK)
    linked: dict[str, CellLinks] = {}
    for tag, sheet in _tags(archive, WORKBOOK):
        part = posixpath.normpath(posixpath.join("xl", parts.get(sheet.get("id", ""), "")))
        if tag == "sheet" and found.get(part.lstrip("/")):
            linked[sheet.get("name", "")] = _links(archive, part.lstrip("/"), found)
    return linked


def _links(
    archive: Archive, part: str, found: Mapping[str, Sequence[tuple[str, str]]]
) -> CellLinks:
    addresses = _related(archive, part)
    links: dict[tuple[int, int], str] = {}
    for place, number in found[part]:
        cell, address = CELL.match(place), addresses.get(number, "")
        if cell and address.startswith(("http://", "https://")):
            links[int(cell[2]) - 1, column_number(cell[1]) - 1] = address
    return links


def _related(archive: Archive, part: str) -> dict[str, str]:
    """The targets of a part's relationships by their numbers."""
    folder, name = posixpath.split(part)
    tags = _tags(archive, f"{folder}/_rels/{name}.rels")
    return {one.get("Id", ""): one.get("Target", "") for tag, one in tags if tag != "sheet"}


def _tags(archive: Archive, name: str) -> Iterator[tuple[str, dict[str, str]]]:
    if name in archive.names:
        text = archive.read(name, MAX_PART).decode("utf-8", "replace")
        for tag, inside in TAG.findall(text):
            yield tag, {key: unescape(value) for key, value in ATTRIBUTE.findall(inside)}
