"""Feeds (RSS, Atom, RDF) → their entries: title, link, date, author and visible text of each."""

from html import escape
from typing import Final

from turbohtml.extract import Entry, Feed, feed

from kindly.extract import ExtractOptions
from kindly.extract.formats.html_fragment import heading, note, paragraph, read_fragment
from kindly.extract.html import ExtractedText
from kindly.models import Link, Metadata
from kindly.text.invisible import clean

MAX_ENTRIES: Final = 100


def read_feed(text: str, options: ExtractOptions, base_url: str) -> ExtractedText | None:
    """The entries of a feed; None if the XML is not a feed."""
    source = feed(text)
    if source is None or not source.entries:
        return None
    total = len(source.entries)
    shown = source.entries[:MAX_ENTRIES]
    fragments = [read_fragment(_head(source), options, base_url)]
    fragments += [
        read_fragment(_entry(entry), options, _address(entry) or base_url) for entry in shown
    ]
    if total > MAX_ENTRIES:
        more = note(f"the feed is truncated: {MAX_ENTRIES} of {total:,} entries were read")
        fragments.append(read_fragment(more, options, base_url))
    return ExtractedText(
        "\n\n".join(filter(None, (fragment.text for fragment in fragments))),
        Metadata(
            title=_line(source.title),
            description=_line(source.description) or None,
            modified=_line(source.updated) or None,
        ),
        tuple(dict.fromkeys(link for entry in shown for link in _links(entry))),
        sum(fragment.hidden_dropped for fragment in fragments),
        partial=total > MAX_ENTRIES,
    )


def _head(source: Feed) -> str:
    title, description = _line(source.title), _line(source.description)
    return (heading(title, 1) if title else "") + (paragraph(description) if description else "")


def _entry(entry: Entry) -> str:
    """The markup of an entry: title, date and author, text."""
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
    """The link of an entry, if it is an HTTP URL."""
    link = (entry.link or "").strip()
    return link if link.startswith(("http://", "https://")) else ""


def _line(text: str | None) -> str:
    return " ".join(clean(text or "")[0].split())
