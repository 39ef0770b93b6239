"""The text of an HTML page → what a person would read in it, with the page's own account of itself.

One parse; every step works on that tree. A tree too large to be a page is refused.
"""

import re
from dataclasses import dataclass
from urllib.parse import urljoin

from turbohtml import Document, Element, SelectorSyntaxError, parse

from kindly.errors import ExtractionFailed, InputError, SelectorNotMatched
from kindly.extract import ExtractOptions
from kindly.extract.content.main_content import main_content
from kindly.extract.content.page_kind import Hints, read_hints
from kindly.extract.markdown.embeds import replace_embeds
from kindly.extract.markdown.formulas import replace_formulas
from kindly.extract.markdown.writer import render
from kindly.extract.metadata import read_metadata
from kindly.extract.visibility.visible import remove_hidden
from kindly.extract.walls.detect import Evidence, is_teaser, refuse_walls
from kindly.models import Link, Metadata
from kindly.text.invisible import clean

MAX_ELEMENTS = 150_000
MAX_STYLED = 30_000
MAX_SIGNS = 500_000
"""How many tags, and how many equals signs, a page may have before it is even parsed."""
MACHINERY = "script, svg, meta, title, base, map"
FIXED_SPACES = ("\u00a0", "&nbsp;")
NUMBERED_SPACES = re.compile("&#(?:160|x[aA]0);")
NOSCRIPT_SHARE = 0.5
NOSCRIPT_CHARACTERS = 400
TOLD_AT_START = 300_000
TOLD_AT_END = 100_000


@dataclass(frozen=True, slots=True)
class HtmlText:
    """What a page gave."""

    text: str
    metadata: Metadata
    links: tuple[Link, ...]
    hidden_dropped: int
    partial: bool = False
    """Whether there is more than this reading has."""


def read_html(
    markup: str, options: ExtractOptions, url: str, *, composed: bool = False
) -> HtmlText:
    """The readable part of a page; all of it where it was composed as content.

    Raises:
        ExtractionFailed: the tree is too large.
        InputError: the selector is not CSS.
        SelectorNotMatched: the selector finds nothing.
        PageWalled, NoContent: there is nothing to read; see `outcome`.
    """
    if len(markup) > MAX_SIGNS and max(markup.count("<"), markup.count("=")) > MAX_SIGNS:
        raise ExtractionFailed("The page has too many tags and attributes to be read.", url=url)
    document = parse(_plain_spaces(markup), positions=False)
    _refuse_monsters(document, url)
    metadata = read_metadata(document, url, with_data=True)
    base_url = _base(document, url)
    replace_formulas(document)
    replace_embeds(document)
    document.remove(MACHINERY)
    if "shadowrootmode" in markup:
        _flatten_shadows(document)
    whole_text = document.text
    _settle_noscript(document)
    hidden = remove_hidden(document)
    hints = read_hints(markup, metadata.title, url)
    roots = _roots(document, options, hints, url, composed=composed)
    rendered, links = render(roots, options, base_url)
    text, invisible = clean(rendered)
    text = text.strip("\n")
    readable = text if options.format != "html" else " ".join(root.text for root in roots)
    evidence = Evidence(
        url,
        metadata.title,
        readable.strip(),
        whole_text,
        _told(markup) if options.selector is None else "",
    )
    if composed:
        return HtmlText(text, metadata, links, hidden + invisible)
    refuse_walls(evidence)
    return HtmlText(text, metadata, links, hidden + invisible, partial=is_teaser(evidence))


def _roots(
    document: Document, options: ExtractOptions, hints: Hints, url: str, *, composed: bool
) -> list[Element]:
    if options.selector:
        return _selected(document, options.selector, url)
    whole = document.select_one("main") if composed else None
    return [whole if whole is not None else main_content(document, hints)]


def _plain_spaces(markup: str) -> str:
    for fixed in FIXED_SPACES:
        markup = markup.replace(fixed, " ")
    return NUMBERED_SPACES.sub(" ", markup) if "&#" in markup else markup


def _told(markup: str) -> str:
    """As much of a page's markup as gives away what stands in place of its content."""
    if len(markup) <= TOLD_AT_START + TOLD_AT_END:
        return markup
    return f"{markup[:TOLD_AT_START]}\n{markup[-TOLD_AT_END:]}"


def _refuse_monsters(document: Document, url: str) -> None:
    """The parser bounds depth itself, as browsers do; the number of elements is bounded here."""
    elements = document.xpath("count(//*)")
    if isinstance(elements, float) and elements > MAX_ELEMENTS:
        raise ExtractionFailed(f"The page has more than {MAX_ELEMENTS:,} elements.", url=url)
    if len(document.select("[style]")) > MAX_STYLED:
        raise ExtractionFailed(
            f"The page has more than {MAX_STYLED:,} elements with styles of their own.", url=url
        )


def _base(document: Document, url: str) -> str:
    base = document.select_one("base[href]")
    try:
        return urljoin(url, (base.attr("href") or "").strip()) if base is not None else url
    except ValueError:
        return url


def _flatten_shadows(document: Document) -> None:
    """Put the content of declared shadow roots where a browser would draw it."""
    for host in list(document.iter_elements()):
        shadow = host.shadow_root
        if shadow is None:
            continue
        light = list(host.children)
        shown = list(shadow.children)
        host.clear()
        host.extend(shown)
        for slot in host.select("slot"):
            name = slot.attr("name")
            filling = [
                node
                for node in light
                if (node.attr("slot") if isinstance(node, Element) else None) == name
            ]
            if filling:
                slot.clear()
                slot.extend(filling)


def _settle_noscript(document: Document) -> None:
    """Keep what a page offers to readers without scripts only where it is most of the page."""
    blocks = document.select("noscript")
    size = sum(len(block.text) for block in blocks)
    if size > NOSCRIPT_CHARACTERS and size > NOSCRIPT_SHARE * _characters(document):
        for block in blocks:
            block.unwrap()
    elif blocks:
        document.remove("noscript")


def _characters(document: Document) -> int:
    """Of text, without that of stylesheets."""
    return len(document.text) - sum(len(style.text) for style in document.select("style"))


def _selected(document: Document, selector: str, url: str) -> list[Element]:
    """The outermost matches, each in a wrapper of its own."""
    try:
        found = document.select(selector)
    except SelectorSyntaxError as error:
        raise InputError(f"`{selector}` is not a valid CSS selector.", field="selector") from error
    chosen = set(found)
    outermost = [element for element in found if chosen.isdisjoint(element.ancestors)]
    if not outermost:
        raise SelectorNotMatched(
            f"`{selector}` matches nothing that is shown on the page.", url=url, selector=selector
        )
    return [Element("div", children=[element]) for element in outermost]
