"""HTML extraction: markup → the readable text of a page with its metadata and links.

The page is parsed once, and every step works on that tree. Pages with too many tags or elements are refused.
"""

import re
from urllib.parse import urljoin

from turbohtml import Document, Element, SelectorSyntaxError, parse

from kindly.errors import ExtractionFailed, InputError, SelectorNotMatched
from kindly.extract import ExtractOptions
from kindly.extract.content.main_content import main_content
from kindly.extract.content.page_kind import Hints, read_hints
from kindly.extract.markdown.box_titles import read_box_titles
from kindly.extract.markdown.embeds import replace_embeds
from kindly.extract.markdown.formulas import replace_formulas
from kindly.extract.markdown.lists import mark_tasks
from kindly.extract.markdown.writer import render
from kindly.extract.metadata import read_metadata
from kindly.extract.visibility.revealed.streamed_parts import place_streamed_parts
from kindly.extract.visibility.visible import remove_hidden
from kindly.extract.walls.detect import Evidence, raise_if_walled
from kindly.extract.walls.missing import Gap, missing
from kindly.frozen import frozen
from kindly.models import Link, Metadata
from kindly.text.invisible import clean

MAX_ELEMENTS = 150_000
CUT_ELEMENTS = 120_000
"""Of a page that is cut anyway, it is cut to about so many elements."""
MAX_CUTS = 10
MAX_STYLED = 30_000
MAX_TAGS_OR_ATTRIBUTES = 500_000
"""The maximum number of `<`, and of `=`, in markup that is parsed at all."""
NON_TEXT = ("script", "svg", "meta", "link[itemprop]", "title", "base", "map")
"""One selector a tag is found much faster than one for all."""
NO_BREAK_SPACE = re.compile("&(?:nbsp|#160|#x[aA]0);")
MAX_PIECES = 10_000
"""The first so many of these spaces are replaced in one pass."""
RAW_TEXT = "iframe|textarea|title|style|script|xmp|noembed|noframes"
RAW_TEXT_START = re.compile(rf"<(?:{RAW_TEXT})\b", re.I)
RAW_TEXT_END = re.compile(rf"</(?:{RAW_TEXT})\b", re.I)
NOSCRIPT_SHARE = 0.5
NOSCRIPT_CHARACTERS = 400
EVIDENCE_START_CHARACTERS = 300_000
EVIDENCE_END_CHARACTERS = 100_000
"""The parts of the markup that wall detection searches."""


@frozen
class ExtractedText:
    """The text of a page or file, with what is known about it."""

    text: str
    metadata: Metadata
    links: tuple[Link, ...]
    hidden_dropped: int
    partial: bool = False
    """Whether the page or file has more text than this."""
    gap: Gap | None = None
    """What a web page lacks, if it is partial."""
    note: str = ""
    """What a reader should know about how a file was read."""
    excerpt: bool = False
    """Whether only the pages of a file that the questions need were read."""
    cut: bool = False
    """Whether an excerpt is of a file that is too long to be read whole."""


def read_html(
    markup: str, options: ExtractOptions, url: str, *, composed: bool = False
) -> ExtractedText:
    """The readable text of a page; all of it if the page was composed as content.

    Raises:
        ExtractionFailed: the tree is too large.
        InputError: the selector is not valid CSS.
        SelectorNotMatched: the selector matches nothing.
        PageWalled, NeedsBrowser, NoContent: there is nothing to read; see `walls.detect`.
    """
    if (
        len(markup) > MAX_TAGS_OR_ATTRIBUTES
        and max(markup.count("<"), markup.count("=")) > MAX_TAGS_OR_ATTRIBUTES
    ):
        raise ExtractionFailed("The page has too many tags and attributes.", url=url)
    as_scripted = _swallows_page(markup)
    document = parse(_plain_spaces(markup), positions=False, scripting=as_scripted)
    if as_scripted:
        _parse_noscript(document)
    _check_size(document, url)
    metadata = read_metadata(document, url, with_data=True)
    base_url = _base_url(document, url)
    place_streamed_parts(document, markup)
    replace_formulas(document)
    replace_embeds(document)
    mark_tasks(document)
    for selector in NON_TEXT:
        document.remove(selector)
    if "shadowrootmode" in markup:
        _flatten_shadow_roots(document)
    whole_text = document.text
    _resolve_noscript(document)
    hidden = remove_hidden(document)
    titles = read_box_titles(document)
    hints = read_hints(markup, metadata.title, url)
    roots = _roots(document, options, hints, url, composed=composed)
    rendered, links = render(roots, options, base_url, titles)
    text, invisible = clean(rendered)
    text = text.strip("\n")
    readable = text if options.format != "html" else " ".join(root.text for root in roots)
    evidence = Evidence(
        url,
        metadata.title,
        readable.strip(),
        whole_text,
        _evidence_markup(markup) if options.selector is None else "",
    )
    if composed:
        return ExtractedText(text, metadata, links, hidden + invisible)
    raise_if_walled(evidence, keep_teaser=options.keep_teaser)
    gap = missing(evidence)
    return ExtractedText(text, metadata, links, hidden + invisible, gap is not None, gap)


def within_elements(markup: str) -> str:
    """The beginning of markup that has too many elements to be read whole; a tag at its end may be cut."""
    for _ in range(MAX_CUTS):
        elements = markup.count("<") - markup.count("</")
        if elements <= CUT_ELEMENTS:
            break
        markup = markup[: len(markup) * CUT_ELEMENTS // elements]
    return markup


def _roots(
    document: Document, options: ExtractOptions, hints: Hints, url: str, *, composed: bool
) -> list[Element]:
    if options.selector:
        return _selected(document, options.selector, url)
    main = document.select_one("main") if composed else None
    return [main if main is not None else main_content(document, hints)]


def _plain_spaces(markup: str) -> str:
    """The markup with plain spaces. `sub` is faster, but holds pieces in memory; `replace` does not."""
    markup, replaced = NO_BREAK_SPACE.subn(" ", markup.replace("\u00a0", " "), MAX_PIECES)
    if replaced == MAX_PIECES:
        for form in {found[0] for found in NO_BREAK_SPACE.finditer(markup)}:
            markup = markup.replace(form, " ")
    return markup


def _evidence_markup(markup: str) -> str:
    """The start and the end of the markup, where login forms, challenges and paywalls show."""
    if len(markup) <= EVIDENCE_START_CHARACTERS + EVIDENCE_END_CHARACTERS:
        return markup
    return f"{markup[:EVIDENCE_START_CHARACTERS]}\n{markup[-EVIDENCE_END_CHARACTERS:]}"


def _check_size(document: Document, url: str) -> None:
    """Limit the number of elements; the parser itself limits depth, as browsers do."""
    elements = document.xpath("count(//*)")
    if not isinstance(elements, float) or elements <= MAX_STYLED:
        return
    if elements > MAX_ELEMENTS:
        raise ExtractionFailed(f"The page has more than {MAX_ELEMENTS:,} elements.", url=url)
    if len(document.select("[style]")) > MAX_STYLED:
        raise ExtractionFailed(
            f"The page has more than {MAX_STYLED:,} elements with a style attribute.", url=url
        )


def _base_url(document: Document, url: str) -> str:
    base = document.select_one("base[href]")
    try:
        return urljoin(url, (base.attr("href") or "").strip()) if base is not None else url
    except ValueError:
        return url


def _flatten_shadow_roots(document: Document) -> None:
    """Move the content of declarative shadow roots to where a browser renders it."""
    for host in list(document.iter_elements()):
        shadow = host.shadow_root
        if shadow is None:
            continue
        light_children = list(host.children)
        shadow_children = list(shadow.children)
        host.clear()
        host.extend(shadow_children)
        for slot in host.select("slot"):
            name = slot.attr("name")
            slotted = [
                node
                for node in light_children
                if (node.attr("slot") if isinstance(node, Element) else None) == name
            ]
            if slotted:
                slot.clear()
                slot.extend(slotted)


def _swallows_page(markup: str) -> bool:
    """Whether a `noscript` block opens an element that would take the rest of the page as its text.

    Browsers with scripts end such a block at its end tag, whatever it contains.
    """
    start = markup.find("<noscript")
    while start >= 0 and (end := markup.find("</noscript", start)) >= 0:
        block = markup[start:end]
        if len(RAW_TEXT_START.findall(block)) > len(RAW_TEXT_END.findall(block)):
            return True
        start = markup.find("<noscript", end)
    return False


def _parse_noscript(document: Document) -> None:
    """Parse the content of `noscript` blocks, each for itself; it is text if the page is parsed as with scripts."""
    for block in document.select("noscript"):
        inner = parse(block.text, positions=False).select_one("body")
        block.clear()
        block.extend(list(inner.children) if inner is not None else [])


def _resolve_noscript(document: Document) -> None:
    """Keep `noscript` content only if it is most of the page."""
    blocks = document.select("noscript")
    size = sum(len(block.text) for block in blocks)
    if size > NOSCRIPT_CHARACTERS and size > NOSCRIPT_SHARE * _characters(document):
        for block in blocks:
            block.unwrap()
    elif blocks:
        document.remove("noscript")


def _characters(document: Document) -> int:
    """Characters of text, without stylesheets."""
    return len(document.text) - sum(len(style.text) for style in document.select("style"))


def _selected(document: Document, selector: str, url: str) -> list[Element]:
    """The outermost matches, each in a wrapper element."""
    try:
        found = document.select(selector)
    except SelectorSyntaxError as error:
        raise InputError(f"`{selector}` is not a valid CSS selector.", field="selector") from error
    chosen = set(found)
    outermost = [element for element in found if chosen.isdisjoint(element.ancestors)]
    if not outermost:
        raise SelectorNotMatched(
            f"`{selector}` matches no visible element of the page.", url=url, selector=selector
        )
    return [Element("div", children=[element]) for element in outermost]
