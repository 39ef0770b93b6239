"""arXiv: an abstract, PDF or HTML URL → the paper's metadata and its full text.

The text is the archive's own HTML with formulas as TeX, or the PDF if there is no HTML.
"""

import re
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import anyio
import anyio.to_thread

from kindly.errors import FetchError, KindlyError, PageNotFound
from kindly.fetch.loader_kit.html_article import (
    Article,
    article_page,
    displayed,
    facts,
    tex_of,
    tidy,
)
from kindly.fetch.loader_kit.loader import LoaderClient, NotLoaded
from kindly.frozen import frozen
from kindly.models import Page
from kindly.plugin_settings import Need
from kindly.urls import Url

if TYPE_CHECKING:
    from turbohtml import Document, Element

HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org"})
PAPER = re.compile(
    r"/(?:abs|pdf|html)/((?:[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]{1,3})?)(?:\.pdf)?/?\Z"
)
UNWANTED = (
    "nav, header, footer, button, script, style, .ltx_page_header, .ltx_page_footer, "
    ".ltx_page_navbar, .ltx_TOC, .package-alerts, "
    ".ltx_authors, .ltx_title_document, .ltx_dates, .ltx_ERROR, .ltx_listing_data, .ltx_tag_item, .ltx_pagination, "
    ".ltx_role_display-none, .ltx_rdf, .ltx_role_institutetext"
)
WITHIN = 'a[href^="#"], a.ltx_ref[href*="#"]:not(.ltx_href):not(.ltx_url)'
"""Links within the paper."""
INLINE_TEX = re.compile(r"\$([^$]{1,500})\$")
SPAN_TABLES = (
    ("span.ltx_tabular", "table"),
    ("span.ltx_thead", "thead"),
    ("span.ltx_tbody", "tbody"),
    ("span.ltx_tr", "tr"),
    ("span.ltx_td", "td"),
)


@frozen
class Arxiv:
    """Loads papers."""

    name: str = "arxiv"
    tokens: tuple[Need, ...] = ()
    base_urls: tuple[tuple[str, str], ...] = (
        ("ARXIV_URL", "https://arxiv.org"),
        ("ARXIV_API_URL", "https://export.arxiv.org"),
    )

    def matches(self, url: Url) -> bool:
        return paper_of(url) is not None

    async def load(self, url: Url, client: LoaderClient) -> Page:
        """The paper, or only its metadata and abstract if no full text is available."""
        paper = paper_of(url)
        if paper is None:
            raise NotLoaded("The URL does not name a paper.", url=str(url))
        record, text = await _both(paper, client)
        if isinstance(text, Page) and _is_pdf(text):
            return text
        if isinstance(text, Page):
            markup = text.body.decode("utf-8", "replace")
            article = await anyio.to_thread.run_sync(to_article, paper, record, markup, text.url)
        elif record is not None:
            article = without_text(paper, record)
        else:
            raise text
        return article_page(article, client.now)


@frozen
class ArxivRecord:
    """The archive's metadata of a paper."""

    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    updated: str = ""
    categories: tuple[str, ...] = ()
    comment: str = ""
    journal: str = ""
    doi: str = ""


def paper_of(url: Url) -> str | None:
    """The paper's identifier in a URL, with its version if given."""
    found = PAPER.match(url.target.partition("?")[0]) if url.host in HOSTS else None
    return found.group(1) if found else None


async def _both(paper: str, client: LoaderClient) -> tuple[ArxivRecord | None, Page | KindlyError]:
    """Metadata and text, fetched concurrently; each may fail by itself."""
    records: list[ArxivRecord | None] = []

    async def look_up() -> None:
        records.append(await _record(paper, client))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look_up)
        text = await _text(paper, client)
    return records[0], text


async def _record(paper: str, client: LoaderClient) -> ArxivRecord | None:
    api_url = client.address("ARXIV_API_URL", "/api/query", {"id_list": paper, "max_results": "1"})
    try:
        reply = await client.api(api_url)
    except KindlyError:
        return None
    return to_record(reply.body.decode("utf-8", "replace"))


async def _text(paper: str, client: LoaderClient) -> Page | KindlyError:
    """The HTML, or the PDF, or the error if there is neither."""
    try:
        page = await client.page(client.address("ARXIV_URL", f"/html/{paper}"))
        if b"ltx_" in page.body:
            return page
    except FetchError:
        pass
    try:
        page = await client.page(client.address("ARXIV_URL", f"/pdf/{paper}"))
    except FetchError as error:
        return error
    return page if _is_pdf(page) else PageNotFound("There is no such paper.", url=page.url)


def _is_pdf(page: Page) -> bool:
    return page.body.startswith(b"%PDF-")


def to_record(feed: str) -> ArxivRecord | None:
    """The only entry of the API's answer; None if there is none, or if it reports an error."""
    from turbohtml import HTMLParseError, parse_xml

    try:
        document = parse_xml(feed)
    except HTMLParseError:
        return None
    read = _Reader(document)
    identifier, title = read("id"), read("title")
    if not title or "/api/errors" in identifier:
        return None
    authors = (name.text for name in document.select("entry author name"))
    terms = (term.attr("term") or "" for term in document.select("entry category"))
    return ArxivRecord(
        title=title,
        abstract=read("summary"),
        authors=tuple(" ".join(name.split()) for name in authors),
        published=read("published"),
        updated=read("updated"),
        categories=tuple(term for term in terms if term),
        comment=read("arxiv:comment"),
        journal=read("arxiv:journal_ref"),
        doi=read("arxiv:doi"),
    )


def to_article(paper: str, record: ArxivRecord | None, markup: str, base_url: str) -> Article:
    """The paper's HTML below its metadata.

    Raises:
        NotLoaded: there is no paper in it.
    """
    from turbohtml import parse

    document = parse(markup)
    root = document.select_one("article.ltx_document, .ltx_document, .ltx_page_content")
    if root is None:
        raise NotLoaded("The paper's HTML has an unknown structure.", url=base_url)
    named = root.select_one(".ltx_title_document") or document.select_one("title")
    title = record.title if record else " ".join((named.text if named else paper).split())
    if record is not None and record.abstract:
        root.remove(".ltx_abstract")
    _clean(root, base_url)
    return _framed(paper, record, title, root.inner_html)


def without_text(paper: str, record: ArxivRecord) -> Article:
    """The metadata of a paper whose text could not be fetched, with a note about that."""
    note = "<p>(The full text of this paper could not be fetched; this is only its abstract.)</p>"
    return _framed(paper, record, record.title, note)


def _framed(paper: str, record: ArxivRecord | None, title: str, text: str) -> Article:
    address = f"https://arxiv.org/abs/{paper}"
    if record is None:
        return Article(title=title, body=text, url=address, site="arXiv")
    known = facts(
        (
            ("Authors", escape(", ".join(record.authors))),
            ("arXiv", f'<a href="{address}">{paper}</a>'),
            ("Published", record.published[:10]),
            ("Updated", record.updated[:10] if record.updated != record.published else ""),
            ("Categories", escape(", ".join(record.categories))),
            ("Comment", escape(record.comment)),
            ("Journal", escape(record.journal)),
            ("DOI", escape(record.doi)),
        )
    )
    plain = INLINE_TEX.sub(r"$<code>\1</code>$", escape(record.abstract, quote=False))
    abstract = f"<h2>Abstract</h2>\n<p>{plain}</p>" if plain else ""
    return Article(
        title=title,
        body="\n".join(filter(None, (known, abstract, text))),
        url=address,
        author=", ".join(record.authors),
        published=record.published,
        modified=record.updated,
        site="arXiv",
    )


class _Reader:
    """Reads the text of a feed entry's child by its name."""

    def __init__(self, document: "Document") -> None:
        entry = document.select_one("entry")
        self._children = [] if entry is None else list(entry.iter_elements())

    def __call__(self, name: str) -> str:
        found = next((child for child in self._children if child.tag == name), None)
        return "" if found is None else " ".join(found.text.split())


def _clean(root: "Element", base_url: str) -> None:
    from turbohtml import Text

    root.remove(UNWANTED)
    _write_equations(root)
    _write_listings(root)
    _write_footnotes(root)
    for selector, tag in SPAN_TABLES:
        for element in root.select(selector):
            element.tag = tag
    for heading in root.select(".ltx_title_abstract, .ltx_title_bibliography"):
        heading.tag = "h2"
    for block in root.select(".ltx_bibblock"):
        block.insert_before(Text(" "))
    for anchor in root.select(WITHIN):
        anchor.unwrap()
    for image in root.select("img[src]"):
        image.attrs["src"] = urljoin(f"{base_url.rstrip('/')}/", image.attr("src") or "")
    tidy(root)


def _write_equations(root: "Element") -> None:
    """Turn each displayed equation, or group of equations, into one TeX block with its numbers."""
    for table in root.select(".ltx_eqn_table"):
        lines = []
        for row in table.select(".ltx_eqn_row"):
            tex = " ".join(filter(None, (_plain(tex_of(math)) for math in row.select("math"))))
            number = row.select_one(".ltx_tag_equation, .ltx_tag_equationgroup")
            tag = number.text.strip().strip("()") if number is not None else ""
            lines.append(f"{tex} \\tag{{{tag}}}" if tag else tex)
        written = "\n".join(filter(None, lines))
        if written:
            table.replace_with(displayed(written))


def _plain(tex: str) -> str:
    return tex.removeprefix("\\displaystyle").strip()


def _write_listings(root: "Element") -> None:
    from turbohtml import Element, Text

    for listing in root.select(".ltx_listing"):
        lines = listing.select(".ltx_listingline")
        for number in listing.select(".ltx_tag_listingline"):
            number.decompose()
        if lines:
            code = "\n".join(line.text.strip("\n").rstrip() for line in lines)
            listing.replace_with(Element("pre", {}, [Element("code", {}, [Text(code)])]))


def _write_footnotes(root: "Element") -> None:
    from turbohtml import Text

    for note in root.select(".ltx_note"):
        for mark in note.select(".ltx_note_mark, .ltx_tag_note, .ltx_note_type"):
            mark.decompose()
        text = " ".join(note.text.split())
        note.replace_with(Text(f" [{text}]" if text else ""))


ARXIV = Arxiv()
