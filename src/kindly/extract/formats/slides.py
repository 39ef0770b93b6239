"""PowerPoint files → slides in order, each with its title, text, lists, tables, charts, pictures and notes."""

import io
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final

from kindly.errors import ExtractionFailed
from kindly.extract import ExtractOptions
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.file_errors import missing_library
from kindly.extract.formats.html_fragment import (
    heading,
    note,
    paragraph,
    picture,
    read_fragment,
    table,
    with_metadata,
)
from kindly.extract.formats.office import (
    LIMITS,
    OfficeLimits,
    bounded,
    core_metadata,
    translating,
)
from kindly.extract.html import ExtractedText

MAX_POINTS: Final = 200
"""Of a chart."""


def read_slides(
    archive: Archive, options: ExtractOptions, limits: OfficeLimits = LIMITS
) -> ExtractedText:
    """The slides of a presentation in order, each with its title and notes.

    Raises:
        MediaUnsupported: it is broken, or the library is not installed.
        ExtractionFailed: it defines XML entities.
    """
    try:
        import pptx
    except ImportError as error:
        raise missing_library(
            "PowerPoint", url=archive.url, media_type=archive.media_type
        ) from error
    archive.check_xml()
    if archive.markup_bytes > limits.slides_markup:
        raise ExtractionFailed(
            f"The presentation has {archive.markup_bytes:,} bytes of markup, which is above the limit.",
            url=archive.url,
        )
    with translating(archive.broken()):
        slides = list(pptx.Presentation(io.BytesIO(archive.rewritten({}))).slides)
        shown = [slide for slide in slides if slide._element.get("show") != "0"]
        parts = [
            part
            for number, slide in enumerate(shown[: limits.slides], 1)
            for part in _slide(number, slide)
        ]
    if len(shown) > limits.slides:
        parts.append(note(f"{limits.slides} of {len(shown)} slides were read"))
    markup, too_long = bounded("".join(parts), limits)
    extracted = read_fragment(markup, options, archive.url)
    return with_metadata(
        extracted,
        core_metadata(archive, ""),
        hidden=len(slides) - len(shown),
        partial=len(shown) > limits.slides or too_long,
    )


def _slide(number: int, slide: Any) -> Iterator[str]:
    title = slide.shapes.title
    named = title.text_frame.text.strip() if title is not None and title.has_text_frame else ""
    yield heading(f"Slide {number}: {named}" if named else f"Slide {number}", 2)
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            yield paragraph(f"Notes: {notes}")


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes from top to bottom; groups are flattened."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        yield _table(shape.table)
    elif getattr(shape, "has_chart", False):
        yield _chart(shape.chart)
    elif shape.has_text_frame:
        yield _text(shape)
    elif hasattr(shape, "image") and (words := picture(_described(shape))):
        yield f"<p>{words}</p>"


def _described(shape: Any) -> str:
    """The alternative text of a shape."""
    return next((found for found in shape._element.xpath(".//p:cNvPr/@descr")), "")


def _table(grid: Any) -> str:
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    rows: list[list[str]] = []
    for n, row in enumerate(grid.rows):
        rows.append([" ".join(cell.text.split()) for cell in row.cells])
        for m, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                spans[n, m] = (cell.span_height, cell.span_width)
    return table(rows, spans)


def _chart(chart: Any) -> str:
    """The title of a chart, and its numbers as a table."""
    named = chart.chart_title.text_frame.text.strip() if chart.has_title else ""
    plots = list(chart.plots)
    if not plots:
        return note(f"a chart: {named}" if named else "a chart")
    names = [str(name) for name in list(plots[0].categories)[:MAX_POINTS]]
    series = [one for plot in plots for one in plot.series][:MAX_POINTS]
    columns = [[_number(value) for value in list(one.values)[:MAX_POINTS]] for one in series]
    rows = [["", *(one.name or "" for one in series)]]
    for n in range(max(map(len, [names, *columns]))):
        values = [column[n] if n < len(column) else "" for column in columns]
        rows.append([names[n] if n < len(names) else str(n + 1), *values])
    return note(f"a chart: {named}" if named else "a chart") + table(rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _text(shape: Any) -> str:
    """The text of a shape: paragraphs or, in the body of a slide and where bullets are drawn, list items."""
    lines = [line for line in shape.text_frame.paragraphs if line.text.strip()]
    listed = len(lines) > 1 and getattr(shape, "is_placeholder", False)
    marks = [_mark(line, listed=listed) for line in lines]
    parts: list[str] = []
    items: list[tuple[int, str, str]] = []
    for line, mark in zip(lines, marks, strict=True):
        if mark:
            items.append((line.level, mark, _inline(line)))
            continue
        parts += (_bullets(items), f"<p>{_inline(line)}</p>")
        items = []
    return "".join((*parts, _bullets(items)))


def _mark(line: Any, *, listed: bool) -> str:
    """The kind of list that a line is an item of, or nothing."""
    kinds = (
        {child.tag.rpartition("}")[2] for child in line._p.pPr}
        if line._p.pPr is not None
        else set()
    )
    if "buAutoNum" in kinds:
        return "ol"
    if "buNone" in kinds:
        return ""
    return "ul" if listed or line.level or kinds & {"buChar", "buBlip"} else ""


def _inline(line: Any) -> str:
    """The text of a line with its links."""
    parts: list[str] = []
    for part in line.runs:
        text = escape(part.text, quote=False)
        address = part.hyperlink.address
        parts.append(f'<a href="{escape(address)}">{text}</a>' if address else text)
    linked = "".join(parts)
    if linked.strip() and len(line.runs) and "".join(part.text for part in line.runs) == line.text:
        return linked.strip()
    return paragraph(line.text.strip())[3:-4]


def _bullets(lines: Sequence[tuple[int, str, str]]) -> str:
    """Indented lines as nested lists: level, kind of list, markup."""
    markup = ""
    opened: list[str] = []
    for level, tag, text in lines:
        while len(opened) > level + 1:
            markup += f"</{opened.pop()}>"
        if len(opened) == level + 1 and opened[-1] != tag:
            markup += f"</{opened.pop()}>"
        while len(opened) < level + 1:
            opened.append(tag)
            markup += f"<{tag}>"
        markup += f"<li>{text}</li>"
    return markup + "".join(f"</{tag}>" for tag in reversed(opened))
