"""Truncation of Excel workbooks: keeps only the first rows and columns of each sheet, and the strings they use.

The library that reads workbooks allocates every cell between the first and the last, so that two distant cells are a
memory bomb. A marker cell beyond the kept part shows the reader that the sheet is truncated. Markup is parsed as a
stream, and only as far as needed.
"""

import re
from collections.abc import Callable
from html import escape
from typing import Final, NamedTuple
from xml.parsers import expat

from kindly.extract.formats.archive import Archive

MAX_ROWS: Final = 1_000
MAX_COLUMNS: Final = 50
MAX_CELL: Final = 1_000
LAST_ROW: Final = 1_048_576
WORKBOOK: Final = "xl/workbook.xml"
STRINGS: Final = "xl/sharedstrings.xml"
SHEETS: Final = "xl/worksheets/"
SKIPPED = ("xl/pivotcache/", "xl/drawings/", "xl/charts/", "xl/externallinks/", "customxml/")
PLACE = re.compile(r"([A-Za-z]{1,4})[0-9]*\Z")
RANGE = re.compile(r"[A-Z]{1,3}[0-9]{1,7}:[A-Z]{1,3}[0-9]{1,7}")
MAX_MERGED: Final = 500
MAX_LINKS: Final = 1_000
NAMESPACE: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CHUNK_BYTES: Final = 64 * 1024


class _StopParsing(Exception):
    """The rest of the markup is not needed."""


class TruncatedWorkbook(NamedTuple):
    """The beginning of each sheet of a workbook."""

    body: bytes
    links: dict[str, list[tuple[str, str]]]
    """The cells with links and the numbers of these, by the part of the sheet."""


def truncated_workbook(archive: Archive) -> TruncatedWorkbook:
    """The workbook with the first `MAX_ROWS` + 1 rows and `MAX_COLUMNS` columns of each sheet.

    Raises:
        MediaUnsupported: its markup is broken.
    """
    if WORKBOOK not in archive.names:
        return TruncatedWorkbook(archive.body, {})
    links: dict[str, list[tuple[str, str]]] = {}
    changed: dict[str, bytes] = {}
    used: set[int] = set()
    for name in archive.names:
        if name.lower().startswith(SHEETS) and name.lower().endswith(".xml"):
            sheet = _Sheet()
            _parse(archive, name, sheet.attach)
            changed[name] = sheet.markup().encode()
            links[name] = sheet.links
            used |= sheet.strings
    for name in archive.names:
        if name.lower() == STRINGS:
            strings = _Strings(used)
            _parse(archive, name, strings.attach)
            changed[name] = strings.markup().encode()
    return TruncatedWorkbook(archive.rewritten(changed, without=SKIPPED), links)


def _parse(archive: Archive, name: str, attach: Callable[[expat.XMLParserType], None]) -> None:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    attach(parser)
    try:
        for chunk in archive.chunks(name, CHUNK_BYTES):
            parser.Parse(chunk)
        parser.Parse(b"", True)  # noqa: FBT003 - takes no keywords
    except _StopParsing:
        return
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise archive.broken() from error


class _Sheet:
    """Copies the first rows and columns of a sheet."""

    def __init__(self) -> None:
        self.strings: set[int] = set()
        """The indexes of the shared strings in the kept part."""
        self.links: list[tuple[str, str]] = []
        """Cells with the numbers of their links."""
        self._out: list[str] = []
        self._merged: list[str] = []
        self._row = self._column = 0
        self._first_row = self._first_column = 0
        self._has_marker = False
        self._kind = ""
        self._text: list[str] = []
        self._size = 0
        self._in_text = False
        self._keeps = False

    def attach(self, parser: expat.XMLParserType) -> None:
        """Register the handlers of an XML parser."""
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def markup(self) -> str:
        """The markup of the truncated sheet."""
        merged = "".join(f'<mergeCell ref="{escape(place)}"/>' for place in self._merged)
        return (
            f'<worksheet xmlns="{NAMESPACE}"><sheetData>{"".join(self._out)}'
            f"{'</row>' if self._row else ''}</sheetData>"
            f"{f'<mergeCells>{merged}</mergeCells>' if merged else ''}</worksheet>"
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag.rpartition(":")[2]:
            case "row":
                self._start_row(attributes)
            case "c":
                self._start_cell(attributes)
            case "v" | "t":
                self._in_text = self._keeps
            case "rPh":
                self._size = MAX_CELL
            case "mergeCell" if len(self._merged) < MAX_MERGED:
                if RANGE.fullmatch(place := attributes.get("ref", "")):
                    self._merged.append(place)
            case "hyperlink" if len(self.links) < MAX_LINKS:
                number = next((attributes[key] for key in attributes if key.endswith(":id")), "")
                self.links.append((attributes.get("ref", ""), number))

    def _start_row(self, attributes: dict[str, str]) -> None:
        number = _number(attributes.get("r", "")) or self._row + 1
        number = min(max(number, self._row + 1), LAST_ROW)
        first = not self._row
        self._first_row = self._first_row or number
        if number - self._first_row > MAX_ROWS:
            self._go_to_row(self._first_row + MAX_ROWS + 1)
            self._mark(self._first_column or 1)
            raise _StopParsing
        self._go_to_row(number, first=first)

    def _go_to_row(self, number: int, *, first: bool = False) -> None:
        self._out.append(f'{"" if first else "</row>"}<row r="{number}">')
        self._row, self._column, self._has_marker = number, 0, False

    def _start_cell(self, attributes: dict[str, str]) -> None:
        place = PLACE.match(attributes.get("r", ""))
        self._column = column_number(place[1]) if place else self._column + 1
        self._text, self._size = [], 0
        if not self._row:
            return
        self._first_column = self._first_column or self._column
        self._keeps = abs(self._column - self._first_column) < MAX_COLUMNS
        if not self._keeps and not self._has_marker:
            self._has_marker = True
            self._mark(self._first_column + MAX_COLUMNS)
        self._kind = attributes.get("t", "")
        self._style = _number(attributes.get("s", ""))

    def _mark(self, column: int) -> None:
        self._out.append(f'<c r="{column_letters(column)}{self._row}"><v>1</v></c>')

    def _end(self, tag: str) -> None:
        match tag.rpartition(":")[2]:
            case "v" | "t":
                self._in_text = False
            case "c" if self._keeps:
                self._keeps = False
                self._end_cell("".join(self._text)[:MAX_CELL])
            case "hyperlinks":
                raise _StopParsing

    def _end_cell(self, text: str) -> None:
        if not text:
            return
        place = f'<c r="{column_letters(self._column)}{self._row}" s="{self._style}"'
        shown = escape(text, quote=False)
        if self._kind == "inlineStr":
            self._out.append(f'{place} t="inlineStr"><is><t>{shown}</t></is></c>')
            return
        if self._kind == "s":
            self.strings.add(_number(text.strip()))
        kind = f' t="{escape(self._kind)}"' if self._kind else ""
        self._out.append(f"{place}{kind}><v>{shown}</v></c>")

    def _characters(self, text: str) -> None:
        if self._in_text and self._size < MAX_CELL:
            self._text.append(text)
            self._size += len(text)


class _Strings:
    """Copies the shared strings in use; the others become empty, so that indexes stay valid."""

    def __init__(self, used: set[int]) -> None:
        self._used = used
        self._last = max(used, default=-1)
        self._out: list[str] = []
        self._number = -1
        self._text: list[str] = []
        self._size = 0
        self._in_text = False

    def attach(self, parser: expat.XMLParserType) -> None:
        """Register the handlers of an XML parser."""
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def markup(self) -> str:
        """The markup of the remaining strings."""
        return f'<sst xmlns="{NAMESPACE}">{"".join(self._out)}</sst>'

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag.rpartition(":")[2]:
            case "si":
                self._number += 1
                self._text, self._size = [], 0
                if self._number > self._last:
                    raise _StopParsing
            case "t":
                self._in_text = self._number in self._used
            case "rPh":
                self._size = MAX_CELL

    def _end(self, tag: str) -> None:
        match tag.rpartition(":")[2]:
            case "t":
                self._in_text = False
            case "si":
                text = escape("".join(self._text)[:MAX_CELL], quote=False)
                self._out.append(f'<si><t xml:space="preserve">{text}</t></si>' if text else EMPTY)

    def _characters(self, text: str) -> None:
        if self._in_text and self._size < MAX_CELL:
            self._text.append(text)
            self._size += len(text)


EMPTY: Final = "<si><t></t></si>"


def column_number(letters: str) -> int:
    """The number of a column from its letters; A is 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def column_letters(number: int) -> str:
    """The letters of a column from its number; 1 is A."""
    letters = ""
    while number > 0:
        number, last = divmod(number - 1, 26)
        letters = chr(65 + last) + letters
    return letters


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
