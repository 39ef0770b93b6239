"""Markup that is content as it stands — a chapter, an entry, a converted file — → text, without what nobody sees."""

from collections.abc import Iterable, Sequence
from html import escape

from turbohtml import Element, parse

from kindly.extract import ExtractOptions
from kindly.extract.html import MACHINERY, HtmlText
from kindly.extract.markdown.writer import render
from kindly.extract.metadata import read_metadata
from kindly.extract.visibility.visible import remove_hidden
from kindly.models import Metadata
from kindly.text.invisible import clean


def read_fragment(markup: str, options: ExtractOptions, base_url: str) -> HtmlText:
    """All visible text of the markup, with the title it gives itself."""
    document = parse(markup, positions=False)
    metadata = read_metadata(document, base_url)
    document.remove(MACHINERY)
    document.remove("noscript")
    hidden = remove_hidden(document)
    rendered, links = render([document.select_one("body") or Element("div")], options, base_url)
    text, invisible = clean(rendered)
    return HtmlText(text.strip("\n"), metadata, links, hidden + invisible)


def described(reading: HtmlText, metadata: Metadata, *, hidden: int, partial: bool) -> HtmlText:
    """The reading with what else is known of its file."""
    return HtmlText(
        reading.text, metadata, reading.links, reading.hidden_dropped + hidden, partial=partial
    )


def paragraph(text: str) -> str:
    """Plain text as a paragraph; its line breaks stay."""
    return f"<p>{escape(text, quote=False).replace(chr(10), '<br>')}</p>"


def heading(text: str, level: int) -> str:
    """Plain text as a heading."""
    return f"<h{level}>{escape(' '.join(text.split()), quote=False)}</h{level}>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of plain text as a table whose first row is its head."""
    if not rows:
        return ""
    head = _row(rows[0], "th")
    return (
        f"<table><thead>{head}</thead><tbody>{''.join(_row(row, 'td') for row in rows[1:])}"
        "</tbody></table>"
    )


def note(text: str) -> str:
    """A sentence of ours within the text of a file, set off from it."""
    return paragraph(f"— {text} —")


def _row(cells: Iterable[str], tag: str) -> str:
    drawn = "".join(f"<{tag}>{escape(cell, quote=False)}</{tag}>" for cell in cells)
    return f"<tr>{drawn}</tr>"
