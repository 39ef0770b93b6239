"""Office files (Word, Excel and OpenDocument sheets) → text with headings, lists, tables and notes.

The archive is checked first. Each format has its own library, which is imported when such a file arrives.
"""

import io
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from typing import Any, Final

from kindly.errors import ExtractionFailed, KindlyError, MediaUnsupported
from kindly.extract import ExtractOptions
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.file_errors import broken_file, missing_library
from kindly.extract.formats.html_fragment import (
    heading,
    note,
    paragraph,
    picture,
    read_fragment,
    table,
    with_metadata,
)
from kindly.extract.formats.workbook import MAX_CELL, MAX_COLUMNS, MAX_ROWS, truncated_workbook
from kindly.extract.formats.workbook_links import CellLinks, links_of_sheets
from kindly.extract.html import ExtractedText
from kindly.frozen import frozen
from kindly.models import Metadata

TRUNCATED = "the file is truncated: the rest was not read"
DOCUMENT = "word/document.xml"
BLOCK = re.compile(r"<(/?)w:(?:p|tbl|sdt|txbxContent|del|ins|customXml)(?:\s[^<>]*)?/?>")
CORE = "docProps/core.xml"
CORE_FIELD = re.compile(r"<(?:dc|dcterms|cp):(\w+)[^>]*>([^<]{1,500})<")
HIDDEN_RUN = re.compile(
    r"<w:(?:vanish|specVanish|webHidden)(?:\s*/>|\s+w:val=\"(?:1|true|on)\"\s*/?>)"
)
RUN = re.compile(r"<w:r[\s>]")
BODY = re.compile(r"<w:body(?:\s[^>]*)?>")
IMAGE = re.compile(r'<img(?: alt="([^"]*)")?[^>]*/?>')
MAX_SPANS: Final = 500
CODE_STYLES = """
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Macro Text'] => pre:separator('\\n')
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
r[style-name='HTML Code'] => code
"""


@frozen
class OfficeLimits:
    """How much of an office file is read. Sizes are in characters."""

    sheets: int = 30
    slides: int = 500
    slides_markup: int = 8_000_000
    """The markup of a presentation, unpacked."""
    markup: int = 4_000_000
    """The converted text of a file."""
    word: int = 10_000_000
    """The XML of a Word document."""
    piece: int = 600_000
    """The XML that is converted at once: its tree needs fifty times the memory."""
    whole: int = 1_500_000
    """The XML of a table, which cannot be split."""
    word_seconds: float = 10.0


LIMITS: Final = OfficeLimits()


def read_docx(
    archive: Archive,
    options: ExtractOptions,
    limits: OfficeLimits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> ExtractedText:
    """The text of a Word document.

    Raises:
        MediaUnsupported: it is broken, or the library is not installed.
        ExtractionFailed: it defines XML entities.
    """
    try:
        import mammoth  # type: ignore[import-untyped]
    except ImportError as error:
        raise missing_library("Word", url=archive.url, media_type=archive.media_type) from error
    archive.check_xml()
    word = _converted(archive, mammoth, limits, clock)
    markup, cut = bounded("".join(word.markup), limits)
    if word.short and not cut:
        markup += note(TRUNCATED)
    extracted = read_fragment(markup, options, archive.url)
    metadata = core_metadata(archive, extracted.metadata.title)
    return with_metadata(extracted, metadata, hidden=word.hidden, partial=cut or word.short)


@dataclass(slots=True)
class _ConvertedWord:
    """The converted part of a Word document."""

    markup: list[str] = field(default_factory=list)
    hidden: int = 0
    """The number of hidden text runs."""
    short: bool = False
    """Whether text after a limit is missing."""


def _converted(
    archive: Archive, mammoth: Any, limits: OfficeLimits, clock: Callable[[], float]
) -> _ConvertedWord:
    """Convert the document piece by piece, until a size or time limit is reached."""
    word = _ConvertedWord()
    size = 0
    until = clock() + limits.word_seconds
    for piece, is_short in _pieces(archive, limits):
        word.short = is_short or clock() > until or size > limits.markup
        if word.markup and word.short and not is_short:
            break
        shown, hidden = _without_hidden_runs(piece)
        word.hidden += hidden
        with translating(archive.broken()):
            result = mammoth.convert_to_html(
                io.BytesIO(archive.rewritten({DOCUMENT: shown.encode()})),
                style_map=CODE_STYLES,
                include_embedded_style_map=False,
                external_file_access=False,
                convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
            )
        word.markup.append(IMAGE.sub(_alternative, result.value))
        size += len(result.value)
    return word


def _alternative(image: re.Match[str]) -> str:
    """The alternative text in place of a picture."""
    return picture(unescape(image[1] or ""))


def read_sheets(
    body: bytes, archive: Archive | None, options: ExtractOptions, url: str
) -> ExtractedText:
    """The visible sheets of a workbook as tables; `archive` is None for the old binary format.

    Raises:
        MediaUnsupported: it is broken, or the library is not installed.
        ExtractionFailed: it defines XML entities.
    """
    kind = archive.media_type if archive else "application/vnd.ms-excel"
    broken = broken_file(body, url=url, media_type=kind)
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise missing_library("Excel", url=url, media_type=kind) from error
    links: dict[str, CellLinks] = {}
    if archive is not None:
        archive.check_xml()
        body, found = truncated_workbook(archive)
        links = links_of_sheets(archive, found)
    with translating(broken):
        book = calamine.load_workbook(io.BytesIO(body))
    shown = [
        sheet.name
        for sheet in book.sheets_metadata
        if sheet.visible == calamine.SheetVisibleEnum.Visible
        and sheet.typ == calamine.SheetTypeEnum.WorkSheet
    ]
    with translating(broken):
        markup, cut = _sheets(book, shown, links)
    extracted = read_fragment(markup, options, url)
    metadata = core_metadata(archive, "") if archive else Metadata()
    hidden = len(book.sheets_metadata) - len(shown)
    return with_metadata(extracted, metadata, hidden=hidden, partial=cut)


@contextmanager
def translating(broken: MediaUnsupported) -> Iterator[None]:
    """Translate any exception into a broken file: these libraries do not document what they raise."""
    try:
        yield
    except (KindlyError, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise broken from error


def _pieces(archive: Archive, limits: OfficeLimits) -> Iterator[tuple[str, bool]]:
    """The document as a series of smaller documents, each with a flag: whether text after it is left out.

    Raises:
        ExtractionFailed: a table is too large.
    """
    data = archive.read(DOCUMENT, limits.word + 1)
    text = data[: limits.word].decode("utf-8", "replace")
    body = BODY.search(text)
    if body is None or len(text) <= limits.piece:
        yield text, False
        return
    head, start = text[: body.end()], body.end()
    while len(text) - start > limits.piece:
        end = _end_of_piece(text, start, limits)
        if end is None and start == body.end():
            raise ExtractionFailed(
                "The document is too large: its first table exceeds the limit.", url=archive.url
            )
        if end is None:
            yield f"{head}</w:body></w:document>", True
            return
        yield f"{head}{text[start:end]}</w:body></w:document>", False
        start = end
    if len(data) <= limits.word:
        yield head + text[start:], False
    else:
        yield f"{head}</w:body></w:document>", True


def _end_of_piece(text: str, start: int, limits: OfficeLimits) -> int | None:
    """Where a piece can end: after its last top-level paragraph or table."""
    depth, end = 0, None
    for found in BLOCK.finditer(text, start, start + limits.whole):
        if end is not None and found.end() - start > limits.piece:
            break
        if not found[0].endswith("/>"):
            depth += -1 if found[1] else 1
            end = found.end() if found[1] and depth == 0 else end
    return end


def _without_hidden_runs(text: str) -> tuple[str, int]:
    """The markup without hidden runs, and their number."""
    if "<w:vanish" not in text:
        return text, 0
    kept: list[str] = []
    hidden = 0
    for piece in text.split("</w:r>"):
        runs = [found.start() for found in RUN.finditer(piece)]
        is_hidden = bool(runs) and HIDDEN_RUN.search(piece, runs[-1]) is not None
        hidden += is_hidden
        kept.append(f"{piece[: runs[-1]]}<w:r>" if is_hidden else piece)
    return "</w:r>".join(kept), hidden


def _sheets(book: Any, names: Sequence[str], links: Mapping[str, CellLinks]) -> tuple[str, bool]:
    """The markup of the sheets, and whether anything is left out."""
    parts: list[str] = []
    cut = False
    for name in names[: LIMITS.sheets]:
        table_markup, short = _sheet(book.get_sheet_by_name(name), links.get(name, {}))
        parts += (heading(name, 2), table_markup)
        cut = cut or short
    if len(names) > LIMITS.sheets:
        parts.append(note(f"{LIMITS.sheets} of {len(names)} sheets were read"))
    markup, too_long = bounded("".join(parts), LIMITS)
    return markup, cut or too_long or len(names) > LIMITS.sheets


def _sheet(sheet: Any, links: CellLinks) -> tuple[str, bool]:
    """The markup of a sheet, and whether anything is left out. Lines of one cell above the table are paragraphs."""
    rows = [
        [_cell(value) for value in row[:MAX_COLUMNS]]
        for _, row in zip(range(MAX_ROWS + 1), sheet.iter_rows(), strict=False)
    ]
    wide, high = sheet.width > MAX_COLUMNS, sheet.height > MAX_ROWS + 1
    filled = [n for n, row in enumerate(rows) if any(row)]
    titles: list[str] = []
    while len(filled) > 1 and len(rows[filled[0]]) > 1 and sum(map(bool, rows[filled[0]])) == 1:
        titles.append(paragraph(next(filter(None, rows[filled.pop(0)]))))
    places = {n: m for m, n in enumerate(filled)}
    spans = _spans(sheet, places)
    first_row, first_column = sheet.start or (0, 0)
    linked = {
        (places[row - first_row], column - first_column): address
        for (row, column), address in links.items()
        if row - first_row in places
    }
    top = max((height for (row, _), (height, _) in spans.items() if row == 0), default=1)
    split = any(width > 1 for (row, _), (_, width) in spans.items() if row == 0)
    headers = max(top, 2 if split else 1)
    markup = "".join(titles) + table(
        [rows[n] for n in filled], spans, headers=headers, links=linked
    )
    if wide or high:
        markup += note(
            f"the sheet is truncated: {min(sheet.height, MAX_ROWS + 1):,} rows and "
            f"{min(sheet.width, MAX_COLUMNS):,} columns of it were read"
        )
    return markup, wide or high


def _spans(sheet: Any, places: Mapping[int, int]) -> dict[tuple[int, int], tuple[int, int]]:
    """The merged cells; `places` are the rows that are kept, by their number in the sheet."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    first_row, first_column = sheet.start or (0, 0)
    for (top, left), (bottom, right) in (sheet.merged_cell_ranges or [])[:MAX_SPANS]:
        kept = [places[n] for n in range(top - first_row, bottom - first_row + 1) if n in places]
        column, width = left - first_column, right - left + 1
        if kept and column >= 0 and column + width <= MAX_COLUMNS:
            found[kept[0], column] = (len(kept), width)
    return found


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return " ".join(str(value).split())[:MAX_CELL]


def bounded(markup: str, limits: OfficeLimits) -> tuple[str, bool]:
    """The markup up to the limit, and whether it was longer."""
    if len(markup) <= limits.markup:
        return markup, False
    end = markup.rfind(">", 0, limits.markup) + 1
    return markup[:end] + note(TRUNCATED), True


def core_metadata(archive: Archive, title: str) -> Metadata:
    """The document properties of the file."""
    properties: dict[str, str] = {}
    if CORE in archive.names:
        for name, value in CORE_FIELD.findall(archive.read(CORE).decode("utf-8", "replace")):
            properties.setdefault(name, " ".join(unescape(value).split()))
    return Metadata(
        title=properties.get("title") or title,
        description=properties.get("description") or properties.get("subject"),
        author=properties.get("creator"),
        published=properties.get("created"),
        modified=properties.get("modified"),
        language=properties.get("language"),
    )
