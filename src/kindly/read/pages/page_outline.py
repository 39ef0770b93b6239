"""Page → its outline: the terms of title, address, headings and first words, and what kind of page it is, as bytes.

The outline is made when a page is stored, because ranking pages needs nothing else of them. Terms are 32-bit keys:
the upper bits are of the term, the lower of the word that it is the beginning of, so that "generators" and "general"
have a term in common but not a key. Bytes of an unknown version are not used: `outline_of` makes an outline from
whatever chunks are at hand.
"""

import re
import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from zlib import crc32

from kindly.frozen import frozen
from kindly.models import Chunk, StoredPageInfo
from kindly.read.ranking.segment import blocks
from kindly.text.terms import terms, whole_terms

VERSION = 2
"""Of the bytes and of what is in them."""
READABLE = (1, VERSION)
"""Keys of version 1 are of terms alone: their lower bits are those of a word that is as long as its term."""
WORD_BITS = 8
"""The lower bits of a key."""
NAMED = "="
"""Before a term in the word index: it is in the title or the address of the page whose first chunk has it."""
MAX_HEADINGS = 400
MAX_DEFINED = 1500
MAX_NAMED = 40
LEAD_TERMS = 60
"""Of the first words after the title."""
MAX_TITLE = 300
MAX_HEADING = 200

RELEASES, DATED, LISTING = 1, 2, 4
"""Kinds of pages that mention everything, and that are seldom asked for."""

_HEAD = struct.Struct("<BBBBHHHHHHHH")
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)
_FRONT_TITLE = re.compile(r"^(?:title|sidebar_label): *(.+)$", re.MULTILINE)
_MARKUP = re.compile(
    r"\{[/ ]?[*#:.][^}]*\}|</?[a-z][^<>]{0,200}>|!?\[([^\]]*)\]\([^)]*\)|[*`¶\\\"<>]|^#+ +|^\d+(?:\.\d+)*\.? +"
)
_BOLD_LINE = re.compile(r"^\*\*(.{2,300})\*\*$", re.MULTILINE)
_CALLED = re.compile(r"([\w$.:]{2,120})(?: ?\(|$)")
_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
_SUFFIX = re.compile(r"\.(?:html?|md|mdx|rst|txt|php|aspx?)$", re.IGNORECASE)
_INDEX_FILE = re.compile(r"/(?:index|readme|default)(?:\.\w+)?$", re.IGNORECASE)
_RELEASES = re.compile(
    r"change-?_?logs?\b|\bchanges\b|\brelease(?:s|d|-?_?notes?)\b|what'?s-?_? ?new|\bwhatsnew|\bnews\b|\bhistory\b"
    r"|\b(?:migrat|upgrad)(?:e|ion|ing)[-_ ](?:from|to|guide|\d)|/release-|\bdeprecat(?:ed|ions?)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"/(?:blog|news|posts?|articles?)(?:/|$)|/(?:19|20)\d\d/[01]?\d/|^(?:blog|news)\."
)
_LISTING = re.compile(
    r"\b(?:gen|mod|py-mod)index\b|/(?:search|contents|toc|sitemap|tags?|category|categories|glossary|bookindex|ix\d\d|ref-index|all)"
    r"(?:[-_.][\w-]+)?(?:\.\w+)?$",
    re.IGNORECASE,
)


class Address(NamedTuple):
    """The words of an address."""

    host: str
    path: str
    slug: str
    """The last part of the path that says something."""
    depth: int


@frozen
class Outline:
    """A page in keys of terms."""

    title: tuple[int, ...]
    name: tuple[int, ...]
    """The first heading; the title if there is none."""
    slug: tuple[int, ...]
    """The last part of the address."""
    path: tuple[int, ...]
    """The parts before it."""
    host: tuple[int, ...]
    lead: tuple[int, ...]
    defined: tuple[int, ...]
    """Names that the page documents, each key once."""
    headings: tuple[tuple[int, ...], ...]
    kind: int = 0
    depth: int = 0
    links: float = 0.0
    """The share of the text that is links."""


def outline_of(entry: StoredPageInfo, chunks: Sequence[Chunk]) -> Outline:
    """The outline of a page, from all of its chunks or from some."""
    first = chunks[0].text if chunks and chunks[0].start == 0 else ""
    headings = list(_headings(chunks))
    name = headings[0] if headings and first else ""
    title = title_of(entry, first) or name
    address = address_of(entry.url)
    text = "".join(chunk.text for chunk in chunks)
    return Outline(
        title=keys(title),
        name=keys(name or title),
        slug=keys(address.slug),
        path=keys(address.path),
        host=keys(address.host),
        lead=_once(keys(_lead(first)))[:LEAD_TERMS],
        defined=_once(key for one in _defined(chunks, headings) for key in keys(one))[:MAX_DEFINED],
        headings=tuple(filter(None, map(keys, headings[:MAX_HEADINGS]))),
        kind=kind_of(entry.url, title),
        depth=min(address.depth, 255),
        links=sum(map(len, _LINK.findall(text))) / max(1, len(text)),
    )


def named_terms(entry: StoredPageInfo, chunks: Sequence[Chunk]) -> list[str]:
    """The terms of title and address, marked, for the word index of the page's first chunk."""
    first = chunks[0].text if chunks and chunks[0].start == 0 else ""
    title = title_of(entry, first) or next(_headings(chunks[:1]), "")
    address = address_of(entry.url)
    found = (*terms(title), *terms(address.slug), *terms(address.path))
    return [NAMED + term for term in dict.fromkeys(found)][:MAX_NAMED]


@frozen
class PageIndexing:
    """What a store keeps of a page besides its chunks."""

    outline: bytes
    named: str
    """Terms that the word index of the first chunk has in addition, separated by spaces."""


def page_indexing(entry: StoredPageInfo, chunks: Sequence[Chunk]) -> PageIndexing:
    """What to keep of a page that has exactly these chunks."""
    return PageIndexing(to_bytes(outline_of(entry, chunks)), " ".join(named_terms(entry, chunks)))


def to_bytes(outline: Outline) -> bytes:
    """The outline for a column of the store."""
    fields = _fields(outline)
    lengths = [len(one) for one in outline.headings]
    head = _HEAD.pack(
        VERSION,
        outline.kind,
        outline.depth,
        min(255, round(255 * outline.links)),
        *map(len, fields),
        len(lengths),
    )
    held = array("I", [key for one in (*fields, *outline.headings) for key in one])
    return head + array("H", lengths).tobytes() + held.tobytes()


def from_bytes(held: bytes | None) -> Outline | None:
    """The outline; None if the bytes are another version's or damaged."""
    if held is None or len(held) < _HEAD.size:
        return None
    version, kind, depth, links, *counts, headings = _HEAD.unpack_from(held)
    if version not in READABLE:
        return None
    start = _HEAD.size + 2 * headings
    lengths = array("H", held[_HEAD.size : start])
    found = array("I")
    if len(held) != start + found.itemsize * (sum(counts) + sum(lengths)):
        return None
    found.frombytes(held[start:])
    parts, place = [], 0
    for size in (*counts, *lengths):
        parts.append(tuple(found[place : place + size]))
        place += size
    title, name, slug, path, host, lead, defined, *inner = parts
    return Outline(
        title, name, slug, path, host, lead, defined, tuple(inner), kind, depth, links / 255
    )


def _fields(outline: Outline) -> tuple[tuple[int, ...], ...]:
    return (
        outline.title,
        outline.name,
        outline.slug,
        outline.path,
        outline.host,
        outline.lead,
        outline.defined,
    )


def keys(text: str) -> tuple[int, ...]:
    """The keys of a text's terms, in order."""
    return tuple(map(key_of, terms(text), whole_terms(text)))


@lru_cache(maxsize=30_000)
def key_of(term: str, whole: str) -> int:
    """A number for a term and the word that it is the beginning of."""
    key = _number(term)
    return key if whole == term else key >> WORD_BITS << WORD_BITS | _number(whole) % 2**WORD_BITS


def _number(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


def title_of(entry: StoredPageInfo, first: str) -> str:
    """The title without markup: that of the page, or of the front matter of a Markdown file."""
    title = entry.title
    if not title and (front := _FRONT_MATTER.match(first)):
        stated = _FRONT_TITLE.search(front[1])
        title = stated[1] if stated else ""
    return plain(title[:MAX_TITLE])


def plain(heading: str) -> str:
    """A heading without markup, anchors and numbers; of one that is a tag, the tag's name."""
    bounded = heading[:MAX_TITLE]
    return " ".join(_MARKUP.sub(r" \1 ", bounded).split()) or bounded.strip("#<>` ")


def address_of(url: str) -> Address:
    """The words of an address: without its file's suffix, and without `index`."""
    parts = urlsplit(url)
    path = _SUFFIX.sub("", _INDEX_FILE.sub("/", unquote(parts.path))).strip("/")
    *above, slug = path.split("/")
    host = (parts.hostname or "").removeprefix("www.")
    return Address(host.replace(".", " "), " ".join(above), slug, len(above))


def kind_of(url: str, title: str) -> int:
    """The kinds of a page, as bits."""
    parts = urlsplit(url)
    kind = RELEASES if _RELEASES.search(parts.path) or _RELEASES.search(title) else 0
    if _DATED.search(parts.path) or _DATED.search(parts.netloc):
        kind |= DATED
    if _LISTING.search(parts.path.rstrip("/")):
        kind |= LISTING
    return kind


def _headings(chunks: Iterable[Chunk]) -> Iterator[str]:
    """All headings of a page in order, each once."""
    seen: set[str] = set()
    for chunk in chunks:
        inner = (block.title for block in blocks(chunk.text) if block.kind == "heading")
        for heading in (*chunk.section, *inner):
            if heading not in seen:
                seen.add(heading)
                if name := plain(heading[:MAX_HEADING]):
                    yield name


def _defined(chunks: Iterable[Chunk], headings: Iterable[str]) -> Iterator[str]:
    """Names before a bracket in headings and in bold lines, as references write the names they define."""
    lines = (plain(line) for chunk in chunks for line in _BOLD_LINE.findall(chunk.text))
    for line in (*headings, *lines):
        if found := _CALLED.search(line):
            yield found[1]


def _lead(first: str) -> str:
    """The first prose of a page."""
    body = _FRONT_MATTER.sub("", first)
    prose = (body[one.start : one.end] for one in blocks(body) if one.kind == "prose")
    return plain(" ".join(prose)[: 8 * LEAD_TERMS])


def _once(found: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(found))
