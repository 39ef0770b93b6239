"""Text that is not a web page — JSON, XML, feeds — → something to read."""

import json

from turbohtml import parse_fragment
from turbohtml.extract import Entry, Feed, feed

from kindly.extract.markdown import render
from kindly.extract.options import ExtractOptions
from kindly.models import Link

MAX_PRETTY_CHARACTERS = 2_000_000
MAX_ENTRIES = 100


def json_text(text: str) -> str:
    """Indented JSON, or the text itself when it is not JSON or would grow too long."""
    try:
        pretty = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text.strip("\n")
    return pretty if len(pretty) <= MAX_PRETTY_CHARACTERS else text.strip("\n")


def fenced(text: str, language: str) -> str:
    """A code block, its fence longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def read_feed(text: str) -> Feed | None:
    """The feed in an XML text, or None."""
    found = feed(text)
    return found if found is not None and found.entries else None


def feed_text(source: Feed, options: ExtractOptions, base_url: str) -> tuple[str, tuple[Link, ...]]:
    """A feed as a list of its entries, and their links."""
    parts = [f"# {_line(source.title)}" if source.title else "", _line(source.description)]
    links: list[Link] = []
    for entry in source.entries[:MAX_ENTRIES]:
        parts += _entry_parts(entry, options, base_url)
        if entry.link and entry.link.startswith(("http://", "https://")):
            links.append(Link(_line(entry.title) or entry.link, entry.link))
    return "\n\n".join(filter(None, parts)), tuple(dict.fromkeys(links))


def _entry_parts(entry: Entry, options: ExtractOptions, base_url: str) -> list[str]:
    title = _line(entry.title) or "Untitled"
    linked = options.format == "markdown" and options.include_links and entry.link
    heading = f"[{title}]({entry.link})" if linked else title
    facts = ", ".join(filter(None, (_line(entry.published or entry.updated), _line(entry.author))))
    body = entry.content if isinstance(entry.content, str) else entry.summary
    text = ""
    if body:
        text, _ = render([parse_fragment(body)], options, entry.link or base_url)
    return [f"## {heading}" if options.format == "markdown" else heading, facts, text]


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
