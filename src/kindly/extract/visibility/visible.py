"""Hidden text removal: removes from a page's tree what a person would not see, and counts it.

It uses markup, inline styles and the page's own stylesheets, but no layout and no scripts. In doubt text is kept.
"""

from collections.abc import Sequence
from functools import cached_property

from turbohtml import Document, Element, Node, Text

from kindly.extract.visibility.css import Cascade
from kindly.extract.visibility.layout.box_visibility import is_hidden
from kindly.extract.visibility.layout.covering import Layers
from kindly.extract.visibility.layout.cropping import Cropping
from kindly.extract.visibility.revealed.shown_later import shown_later
from kindly.extract.visibility.text_visibility import TextStyles, may_hide_text

NOT_TEXT_TAGS = "template noframes noembed datalist iframe object video audio canvas embed input textarea select"
NOT_TEXT = (*NOT_TEXT_TAGS.split(), "span[aria-hidden=true].katex-html")
"""Form controls, embedded content and fallbacks: not text of the page. One selector a tag is found much faster."""

FALLBACK_TAGS = "template noframes noembed object video audio canvas iframe datalist"
FALLBACKS = frozenset(FALLBACK_TAGS.split())
"""The tags among these whose content browsers replace; they count as hidden if they contain text."""

HIDDEN_MARKUP = "[hidden], [popover], dialog:not([open]), annotation, annotation-xml"
"""Elements that browsers do not show."""
MAX_PARENTHESIS = 2
"""Browsers with ruby support do not show `rp`; a parenthesis in it is harmless and kept."""
UNLESS_DISPLAYED = ("hidden", "popover")
"""Attributes that a `display` declaration of the page overrides."""

REVEALED_SHARE = 0.6
REVEALED_CHARACTERS = 600
"""An element with this much of the page's text is hidden only until a script shows it, so it is kept."""

Piece = Sequence[Element | Text]
"""The nodes that one rule of the page hides."""


def remove_hidden(document: Document) -> int:
    """Remove hidden elements and text from the tree; return how many of the removed pieces contained text."""
    fallbacks = _remove_fallbacks(document)
    cascade = Cascade(document)
    for style in document.select("style"):
        style.decompose()
    page = _PageSize(document)
    marked = document.select(f"{HIDDEN_MARKUP}, rp")
    by_markup = _hidden_by_markup([at for at in marked if at.tag != "rp"], cascade)
    by_style, texts = _hidden_by_style(cascade)
    invisible = [element for element in texts if cascade.of(element).get("visibility") == "hidden"]
    waiting = {element: cascade.of(element) for element in (*by_markup, *by_style, *invisible)}
    later = shown_later(document, waiting)
    cascade.show(later)

    def is_kept(element: Element) -> bool:
        return element in later or page.is_mostly(len(element.text))

    pieces: list[Piece] = [[element] for element in by_markup if not is_kept(element)]
    pieces += [[at] for at in marked if at.tag == "rp" and len(at.text.strip()) > MAX_PARENTHESIS]
    styled: list[Piece] = [[element] for element in by_style if not is_kept(element)]
    styled += _hidden_texts(cascade, texts, set(by_style) - later, page)
    if not _is_everything(styled, document):
        pieces += styled
    return fallbacks + _remove(pieces)


def _remove_fallbacks(document: Document) -> int:
    """Remove what is not text of the page; return how many of the replaced elements contained text."""
    found = [element for selector in NOT_TEXT for element in document.select(selector)]
    with_text = sum(bool(at.text.strip()) for at in found if at.tag in FALLBACKS)
    for element in found:
        element.decompose()
    return with_text


class _PageSize:
    """The length of a page's text, counted when it is needed."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @cached_property
    def _characters(self) -> int:
        return len(self._document.text)

    def is_mostly(self, size: int) -> bool:
        """Whether so many characters are most of the page, which is then hidden only until a script shows it."""
        return size > REVEALED_CHARACTERS and size > REVEALED_SHARE * self._characters


def _is_displayed(element: Element, cascade: Cascade) -> bool:
    """Whether the page's own style shows an element that an attribute would hide."""
    display = cascade.of(element).get("display", "none")
    return display not in ("none", "") and any(
        element.attr(name) is not None for name in UNLESS_DISPLAYED
    )


def _hidden_by_markup(marked: Sequence[Element], cascade: Cascade) -> list[Element]:
    """The elements that browsers do not show, unless the page's own style shows them."""
    return [element for element in marked if not _is_displayed(element, cascade)]


def _hidden_by_style(cascade: Cascade) -> tuple[list[Element], list[Element]]:
    """The elements that a style hides, and those whose text it may hide."""
    boxes: list[Element] = []
    texts: list[Element] = []
    checked: dict[tuple[tuple[str, str], ...], tuple[bool, bool]] = {}
    for element in (*cascade, *cascade.coloured_fonts):
        if element.tag in ("html", "body", "head"):
            continue
        style = cascade.of(element)
        key = tuple(style.items())
        if key not in checked:
            checked[key] = is_hidden(style), may_hide_text(style)
        hidden, text_may_hide = checked[key]
        if hidden:
            boxes.append(element)
        if text_may_hide or element.tag == "font":
            texts.append(element)
    return boxes, texts


def _hidden_texts(
    cascade: Cascade, texts: list[Element], gone: set[Element], page: _PageSize
) -> list[Piece]:
    """The texts that cannot be read, and those that the layout hides."""
    external = cascade.external
    text_styles = TextStyles(cascade, external=external)
    pieces: list[Piece] = []
    walked: set[Node] = set()
    for element in texts:
        if element not in gone and walked.isdisjoint(element.ancestors):
            walked.add(element)
            pieces.append(list(text_styles.hidden_text(element)))
    layouts = (Layers(cascade, external=external), Cropping(cascade, external=external))
    pieces += [
        piece
        for layout in layouts
        for piece in layout.hidden()
        if not page.is_mostly(sum(len(node.text) for node in piece))
    ]
    return pieces


def _is_everything(pieces: list[Piece], document: Document) -> bool:
    """Whether these pieces are nearly all text of the page; nested pieces count once."""
    nodes = {node for piece in pieces for node in piece}
    total = sum(_characters(node) for node in nodes if nodes.isdisjoint(node.ancestors))
    return total > REVEALED_CHARACTERS and total > 0.95 * _characters(document)


def _characters(node: Node) -> int:
    """Characters of text, without white space."""
    return sum(map(len, node.text.split()))


def _remove(pieces: list[Piece]) -> int:
    """Remove all pieces; return how many contained text, without pieces inside others."""
    nodes = {node for piece in pieces for node in piece}
    with_text = 0
    for piece in pieces:
        with_text += any(nodes.isdisjoint(node.ancestors) and node.text.strip() for node in piece)
    for node in nodes:
        node.decompose()
    return with_text
