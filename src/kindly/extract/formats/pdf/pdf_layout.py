"""The words and rules of all pages → the markup of the document. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from kindly.extract.formats.pdf.pdf_blocks import PdfBlock, page_blocks
from kindly.extract.formats.pdf.pdf_headings import Styles, read_styles
from kindly.extract.formats.pdf.pdf_lines import (
    Box,
    Line,
    lines_of,
    split_at_gutters,
    without_shadows,
)
from kindly.extract.formats.pdf.pdf_markup import NO_REMARKS, document_markup
from kindly.extract.formats.pdf.pdf_tables.aligned_tables import aligned_tables
from kindly.extract.formats.pdf.pdf_tables.cell_grid import PdfTable
from kindly.extract.formats.pdf.pdf_tables.drawings import Rules
from kindly.extract.formats.pdf.pdf_tables.ruled_tables import ruled_tables
from kindly.extract.formats.pdf.pdf_tags import NO_TAGS, PageTags, tagged_tables
from kindly.extract.formats.pdf.pdf_words import Word
from kindly.extract.formats.pdf.reading_order import in_reading_order
from kindly.extract.formats.pdf.running_heads import is_margin_stamp, running_lines


class PageContent(NamedTuple):
    """What a page draws."""

    words: Sequence[Sequence[Word]]
    rules: Rules
    box: Box
    tags: PageTags = NO_TAGS
    rough: bool = False
    """Whether the places of its words are too rough for tables, such as those recognised in handwriting."""


UNREAD: Final = PageContent([], Rules([], [], []), Box(0, 0, 0, 0))
"""Stands for a page that was left out; text does not go on across it."""


def layout(
    pages: Sequence[PageContent],
    outline: Mapping[str, int],
    is_late: Callable[[], bool] = lambda: False,
    remarks: Mapping[int, str] = NO_REMARKS,
    *,
    numbered: bool = True,
) -> str:
    """The markup of a document; of pages that come too late, without their tables.

    `remarks` are sentences about single pages, by their index. If pages are `numbered`, a mark begins each.
    """
    lines = [split_at_gutters(lines_of(without_shadows(page.words))) for page in pages]
    styles = read_styles((line for page in lines for line in page), outline)
    boxes = [page.box for page in pages]
    running = running_lines(list(zip(lines, boxes, strict=True)), styles.body)
    blocks = [
        _page(
            [line for line in own if line not in running and not is_margin_stamp(line, page.box)],
            page,
            styles,
            number,
            with_tables=not page.rough and not is_late(),
        )
        for number, (own, page) in enumerate(zip(lines, pages, strict=True), 1)
    ]
    unread = frozenset(number for number, page in enumerate(pages) if page is UNREAD)
    return document_markup(blocks, styles, remarks, numbered=numbered, unread=unread)


def _page(
    lines: Sequence[Line], page: PageContent, styles: Styles, number: int, *, with_tables: bool
) -> list[PdfBlock]:
    tables = _tables(lines, page) if with_tables else []
    items: list[Line | PdfTable] = []
    seen: set[PdfTable] = set()
    for line in lines:
        table = _table_of(line, tables)
        if table is None:
            items.append(line)
        elif table not in seen:
            seen.add(table)
            items.append(table)
    ordered = in_reading_order(items)
    return page_blocks(ordered, styles, page.box, number, page.tags.roles)


def _tables(lines: Sequence[Line], page: PageContent) -> list[PdfTable]:
    """The tables of a page: by tags, by lines around cells, by alignment."""
    words = [word for line in lines for word in line.words]
    tables = tagged_tables(page.tags, words)
    for ruled in ruled_tables(page.rules, words):
        if not any(ruled.box.overlaps(table.box) for table in tables):
            tables.append(ruled)
    upright = [line for line in lines if not line.words[0].turned]
    tables += aligned_tables(
        [line for line in upright if _table_of(line, tables) is None], page.rules
    )
    return tables


def _table_of(line: Line, tables: Sequence[PdfTable]) -> PdfTable | None:
    """The table that a line is in."""
    x, y = (line.left + line.right) / 2, (line.bottom + line.top) / 2
    return next((table for table in tables if table.box.holds(x, y)), None)
