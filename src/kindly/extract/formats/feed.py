"""A feed — RSS, Atom, RDF — → its entries as a list: title, link, date, author and the visible text of each."""

from html import escape
from typing import Final

from turbohtml.extract import Entry, Feed, feed

from kindly.extract import ExtractOptions
from kindly.extract.formats.markup_piece import heading, note, paragraph, read_fragment
from kindly.extract.html import HtmlText
from kindly.models import Link, Metadata
from kindly.text.invisible import clean

MAX_ENTRIES: Final = 100


def read_feed(text: str, options: ExtractOptions, base_url: str) -> HtmlText | None:
    """The entries of the feed in an XML text, or None if it is no feed."""
    source = feed(text)
    if source is None or not source.entries:
        return None
    total = len(source.entries)
    shown = source.entries[:MAX_ENTRIES]
    readings = [read_fragment(_head(source), options, base_url)]
    readings += [
        read_fragment(_entry(entry), options, _address(entry) or base_url) for entry in shown
    ]
    if total > MAX_ENTRIES:
        more = note(f"the feed goes on: {MAX_ENTRIES} of {total:,} entries were read")
        readings.append(read_fragment(more, options, base_url))
    return HtmlText(
        "\n\n".join(filter(None, (reading.text for reading in readings))),
        Metadata(
            title=_line(source.title),
            description=_line(source.description) or None,
            modified=_line(source.updated) or None,
        ),
        tuple(dict.fromkeys(link for entry in shown for link in _links(entry))),
        sum(reading.hidden_dropped for reading in readings),
        partial=total > MAX_ENTRIES,
    )


def _head(source: Feed) -> str:
    title, description = _line(source.title), _line(source.description)
    return (heading(title, 1) if title else "") + (paragraph(description) if description else "")


def _entry(entry: Entry) -> str:
    """An entry's title, facts and text as markup."""
    title = escape(_line(entry.title) or "Untitled", quote=False)
    address = _address(entry)
    linked = f'<a href="{escape(address)}">{title}</a>' if address else title
    facts = ", ".join(filter(None, (_line(entry.published or entry.updated), _line(entry.author))))
    body = entry.content if isinstance(entry.content, str) else entry.summary
    return f"<h2>{linked}</h2>{paragraph(facts) if facts else ''}<div>{body or ''}</div>"


def _links(entry: Entry) -> list[Link]:
    address = _address(entry)
    return [Link(_line(entry.title) or address, address)] if address else []


def _address(entry: Entry) -> str:
    """Where an entry leads, if that is on the web."""
    link = (entry.link or "").strip()
    return link if link.startswith(("http://", "https://")) else ""


def _line(text: str | None) -> str:
    return " ".join(clean(text or "")[0].split())
