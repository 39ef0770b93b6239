"""HTML fragments that are content as a whole (a chapter, a feed entry, a converted file) → their visible text."""

from collections.abc import Iterable, Sequence
from html import escape

from turbohtml import Element, parse

from kindly.extract import ExtractOptions
from kindly.extract.html import NON_TEXT, ExtractedText
from kindly.extract.markdown.tables import DATA_FILE
from kindly.extract.markdown.writer import render
from kindly.extract.metadata import read_metadata
from kindly.extract.visibility.visible import remove_hidden
from kindly.models import Metadata
from kindly.text.invisible import clean


def read_fragment(markup: str, options: ExtractOptions, base_url: str) -> ExtractedText:
    """All visible text of the markup, with its title."""
    document = parse(markup, positions=False)
    metadata = read_metadata(document, base_url)
    for selector in (*NON_TEXT, "noscript"):
        document.remove(selector)
    hidden = remove_hidden(document)
    rendered, links = render([document.select_one("body") or Element("div")], options, base_url)
    text, invisible = clean(rendered)
    return ExtractedText(text.strip("\n"), metadata, links, hidden + invisible)


def with_metadata(
    extracted: ExtractedText, metadata: Metadata, *, hidden: int, partial: bool
) -> ExtractedText:
    """The extracted text with the metadata of its file; `hidden` adds to the removed pieces."""
    return ExtractedText(
        extracted.text,
        metadata,
        extracted.links,
        extracted.hidden_dropped + hidden,
        partial=partial,
    )


def paragraph(text: str) -> str:
    """A paragraph of plain text; line breaks are kept."""
    return f"<p>{escape(text, quote=False).replace(chr(10), '<br>')}</p>"


def heading(text: str, level: int) -> str:
    """A heading of plain text."""
    return f"<h{level}>{escape(' '.join(text.split()), quote=False)}</h{level}>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of plain text; the first row is its header."""
    if not rows:
        return ""
    head = _row(rows[0], "th")
    return (
        f"<table {DATA_FILE}><thead>{head}</thead><tbody>{''.join(_row(row, 'td') for row in rows[1:])}"
        "</tbody></table>"
    )


def note(text: str) -> str:
    """A remark about the file, set off from its text by dashes."""
    return paragraph(f"— {text} —")


def _row(cells: Iterable[str], tag: str) -> str:
    markup = "".join(f"<{tag}>{escape(cell, quote=False)}</{tag}>" for cell in cells)
    return f"<tr>{markup}</tr>"
