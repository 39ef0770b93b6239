"""Markdown for loaders: joins parts, cleans Markdown that users wrote, and builds the page. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape, unescape

from kindly.models import Page
from kindly.urls import Url

MAX_CHARACTERS = 1_500_000
"""Of one laid-out page."""
MAX_INLINE_CODE = 1_000
FENCE_OR_COMMENT = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*$|<!--|`+", re.MULTILINE)
ATX_HEADING = re.compile(r"^( {0,3})(#{1,6})(?=[ \t])", re.MULTILINE)
UNDERLINED_HEADING = re.compile(r"^ {0,3}(\S[^\n]*)\n {0,3}(=+|-{2,})[ \t]*$", re.MULTILINE)
REMARK = re.compile(r"^ {0,3}\[(?://|comment)\]:[^\n]*\n?", re.MULTILINE | re.IGNORECASE)
DEEPEST = 6


def document(*parts: str) -> str:
    """The non-empty parts as one text, separated by blank lines."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def bounded(parts: Iterable[str], left_out: str, limit: int = MAX_CHARACTERS) -> list[str]:
    """The parts that fit into `limit` characters, and `left_out` with the number of the others in its `{}`."""
    every = list(parts)
    size = 0
    for index, part in enumerate(every):
        size += len(part)
        if size > limit:
            return [*every[:index], f"*{left_out.format(len(every) - index)}*"]
    return every


def heading(level: int, text: str) -> str:
    """A heading of one line."""
    return f"{'#' * level} {line(text)}"


def line(text: str) -> str:
    """`text` with its white space collapsed to one line."""
    return " ".join(text.split())


def facts(*values: str) -> str:
    """The non-empty values on one line."""
    return " · ".join(filter(None, values))


def counted(number: int, noun: str) -> str:
    """`1 answer`, `2 answers`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def fenced(text: str, language: str = "") -> str:
    """A verbatim code block, with a fence longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def day(moment: str | int) -> str:
    """`2026-01-31` for an ISO time or seconds since 1970; empty if there is none."""
    if isinstance(moment, str):
        return moment[:10]
    if moment <= 0:
        return ""
    return datetime.fromtimestamp(min(moment, 253_402_300_799), UTC).date().isoformat()


def shown(markdown: str, *, below: int = 0) -> str:
    """A user's Markdown as it is rendered: without HTML comments, and with headings `below` levels deeper, so that they
    cannot be confused with ours. Code stays verbatim.
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        piece if is_code else _deepened(REMARK.sub("", piece), below)
        for is_code, piece in _pieces(text)
    ).strip("\n")


def _deepened(prose: str, below: int) -> str:
    if not below:
        return prose
    prose = UNDERLINED_HEADING.sub(
        lambda found: f"{'#' if found[2][0] == '=' else '##'} {found[1]}", prose
    )
    return ATX_HEADING.sub(
        lambda found: found[1] + "#" * min(DEEPEST, len(found[2]) + below), prose
    )


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """Fenced code and the prose between it, in order; the prose without HTML comments."""
    prose: list[str] = []
    at = 0
    look_from = 0
    while found := FENCE_OR_COMMENT.search(text, look_from):
        if found[1]:
            end = _fence_end(text, found)
            yield False, "".join(prose) + text[at : found.start()]
            yield True, text[found.start() : end]
            prose, at, look_from = [], end, end
        elif found[0] == "<!--":
            prose.append(text[at : found.start()])
            at = look_from = _comment_end(text, found)
        else:
            look_from = _inline_end(text, found)
    yield False, "".join(prose) + text[at:]


def _fence_end(text: str, opening: re.Match[str]) -> int:
    mark = opening[1]
    closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    end = closing.search(text, opening.end())
    return end.end() if end else len(text)


def _comment_end(text: str, opening: re.Match[str]) -> int:
    end = text.find("-->", opening.end())
    return end + 3 if end >= 0 else len(text)


def _inline_end(text: str, opening: re.Match[str]) -> int:
    """The end of inline code, or of backticks that open none."""
    closing = re.compile(rf"(?<!`){opening[0]}(?!`)")
    end = closing.search(text, opening.end(), opening.end() + MAX_INLINE_CODE)
    return end.end() if end else opening.end()


def escaped(text: str) -> str:
    """Text for an HTML document, whether or not its source escaped it already."""
    return escape(line(unescape(text)))


def markdown_page(url: Url, text: str, now: datetime) -> Page:
    """A page of Markdown that a loader composed."""
    return _page(url, "text/markdown", text, now)


def plain_page(url: Url, text: str, now: datetime) -> Page:
    """A page of plain text that a loader composed."""
    return _page(url, "text/plain", text, now)


def html_page(url: Url, title: str, article: str, now: datetime) -> Page:
    """An HTML page; `article` is the content of its `<article>` below the title."""
    heading_text = escaped(title)
    text = (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{heading_text}</title></head>'
        f"<body><main><article><h1>{heading_text}</h1>\n{article}\n</article></main></body></html>"
    )
    return _page(url, "text/html", text, now)


def _page(url: Url, media_type: str, text: str, now: datetime) -> Page:
    return Page(
        url=str(url),
        requested_url=str(url),
        status=200,
        media_type=media_type,
        body=text.encode("utf-8", "replace"),
        fetched_at=now,
        charset="utf-8",
    )
