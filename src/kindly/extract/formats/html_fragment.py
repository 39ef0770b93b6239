"""HTML fragments that are content as a whole (a chapter, a feed entry, a converted file) → their visible text."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from types import MappingProxyType
from typing import Final

from turbohtml import Document, Element, parse

from kindly.extract import ExtractOptions
from kindly.extract.html import NON_TEXT, ExtractedText
from kindly.extract.markdown.tables import DATA_FILE
from kindly.extract.markdown.writer import render
from kindly.extract.metadata import read_metadata
from kindly.extract.visibility.visible import remove_hidden
from kindly.models import Metadata
from kindly.text.invisible import clean


def read_fragment(
    markup: str,
    options: ExtractOptions,
    base_url: str,
    prepare: Callable[[Document], None] = lambda document: None,
) -> ExtractedText:
    """All visible text of the markup, with its title; `prepare` may change the tree before."""
    document = parse(markup, positions=False)
    prepare(document)
    metadata = read_metadata(document, base_url)
    for selector in (*NON_TEXT, "noscript"):
        document.remove(selector)
    hidden = remove_hidden(document)
    rendered, links = render([document.select_one("body") or Element("div")], options, base_url)
    text, invisible = clean(rendered)
    return ExtractedText(text.strip("\n"), metadata, links, hidden + invisible)


def with_metadata(
    extracted: ExtractedText, metadata: Metadata, *, hidden: int, partial: bool, note: str = ""
) -> ExtractedText:
    """The extracted text with the metadata of its file and a note on it; `hidden` adds to the removed pieces."""
    return replace(
        extracted,
        metadata=metadata,
        hidden_dropped=extracted.hidden_dropped + hidden,
        partial=partial,
        note=note,
    )


def paragraph(text: str) -> str:
    """A paragraph of plain text; line breaks are kept."""
    return f"<p>{escape(text, quote=False).replace(chr(10), '<br>')}</p>"


def heading(text: str, level: int) -> str:
    """A heading of plain text."""
    return f"<h{level}>{escape(' '.join(text.split()), quote=False)}</h{level}>"


FILE_NAME = re.compile(r"\S+\.\w{3,4}|(?:picture|image|grafik|bild)\s*\d*", re.I)
"""What programs write if the author gives no alternative text."""
MAX_ALTERNATIVE: Final = 500
Spans = Mapping[tuple[int, int], tuple[int, int]]
"""The cells that span others: row and column → how many rows and columns."""
NO_SPANS: Final[Spans] = MappingProxyType({})


NO_LINKS: Final[Mapping[tuple[int, int], str]] = MappingProxyType({})


def table(
    rows: Sequence[Sequence[str]],
    spans: Spans = NO_SPANS,
    *,
    headers: int = 1,
    links: Mapping[tuple[int, int], str] = NO_LINKS,
) -> str:
    """A table of plain text; the first rows are its headers. `links` are addresses of cells, by row and column."""
    if not rows:
        return ""
    covered = {
        (row + down, column + across)
        for (row, column), (height, width) in spans.items()
        for down in range(height)
        for across in range(width)
        if down or across
    }
    lines = [
        "".join(
            _cell(text, "th" if n < headers else "td", spans.get((n, m)), links.get((n, m)))
            for m, text in enumerate(row)
            if (n, m) not in covered
        )
        for n, row in enumerate(rows)
    ]
    head, body = (
        "".join(f"<tr>{line}</tr>" for line in part) for part in (lines[:headers], lines[headers:])
    )
    return f"<table {DATA_FILE}><thead>{head}</thead><tbody>{body}</tbody></table>"


def note(text: str) -> str:
    """A remark about the file, set off from its text by dashes."""
    return paragraph(f"— {text} —")


def _cell(text: str, tag: str, span: tuple[int, int] | None, link: str | None) -> str:
    shown = escape(text, quote=False)
    if link and text:
        shown = f'<a href="{escape(link)}">{shown}</a>'
    marks = f' rowspan="{span[0]}" colspan="{span[1]}"' if span else ""
    return f"<{tag}{marks}>{shown}</{tag}>"


def picture(alternative: str) -> str:
    """The words for a picture inside a file, if its alternative text says something."""
    text = " ".join(alternative.split())
    if not text or FILE_NAME.fullmatch(text):
        return ""
    return f"— picture: {escape(text[:MAX_ALTERNATIVE], quote=False)} —"
