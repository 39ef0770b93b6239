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
from kindly.extract.visibility.text_visibility import TextStyles, may_hide_text

NOT_TEXT = (
    "template, noframes, noembed, datalist, iframe, object, video, audio, canvas, embed, input, textarea, select, "
    "[aria-hidden=true].katex-html"
)
"""Form controls, embedded content and fallbacks: not text of the page."""

FALLBACK_TAGS = "template noframes noembed object video audio canvas iframe datalist"
FALLBACKS = frozenset(FALLBACK_TAGS.split())
"""The tags among these whose content browsers replace; they count as hidden if they contain text."""

HIDDEN_MARKUP = "[hidden], [popover], dialog:not([open]), annotation, annotation-xml"
"""Elements that browsers do not show."""
MAX_PARENTHESIS = 2
"""Browsers with ruby support do not show `rp`; a parenthesis in it is harmless and kept."""
UNLESS_DISPLAYED = ("hidden", "popover")
"""Attributes that a `display` declaration of the page overrides."""

PANELS = "[role=tabpanel], main [role=region][id], article [role=region][id]"
CHROME = "nav, header, footer, aside, dialog, form, [role=navigation], [role=dialog], [role=menu], [role=search]"

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
    marked = document.select(f"{HIDDEN_MARKUP}, rp, {PANELS}")
    panels = _collapsible_panels(document, [at for at in marked if at.matches(PANELS)])
    pieces: list[Piece] = [
        [element]
        for element in marked
        if element not in panels
        and element.matches(HIDDEN_MARKUP)
        and not _is_displayed(element, cascade)
        and not page.is_mostly(len(element.text))
    ]
    pieces += [[at] for at in marked if at.tag == "rp" and len(at.text.strip()) > MAX_PARENTHESIS]
    pieces += _hidden_by_style(document, cascade, panels, page)
    return fallbacks + _remove(pieces)


def _remove_fallbacks(document: Document) -> int:
    """Remove what is not text of the page; return how many of the replaced elements contained text."""
    found = document.select(NOT_TEXT)
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


def _collapsible_panels(document: Document, panels: list[Element]) -> set[Node]:
    """Those of the panels that a visitor can open: a visible tab or button controls them."""
    if not panels:
        return set()
    tabs = document.select(
        "[role=tab], button[aria-controls], a[aria-controls], summary[aria-controls]"
    )
    openers = [
        tab for tab in tabs if tab.text.strip() and tab.closest(f"{CHROME}, [hidden]") is None
    ]
    controlled = {tab.attr("aria-controls") for tab in openers} - {None}
    labels = {tab.attr("id") for tab in openers} - {None}
    return {
        panel
        for panel in panels
        if (panel.attr("id") in controlled or panel.attr("aria-labelledby") in labels)
        and panel.closest(CHROME) is None
    }


def _hidden_by_style(
    document: Document, cascade: Cascade, panels: set[Node], page: _PageSize
) -> list[Piece]:
    """The pieces that styles hide; none if that is the whole page, which a script will show."""
    external = cascade.external
    text_styles = TextStyles(cascade, external=external)
    pieces: list[Piece] = []
    checked: dict[tuple[tuple[str, str], ...], tuple[bool, bool]] = {}
    walked: set[Node] = set()
    for element in (*cascade, *cascade.coloured_fonts):
        if element.tag in ("html", "body", "head"):
            continue
        style = cascade.of(element)
        key = tuple(style.items())
        if key not in checked:
            checked[key] = is_hidden(style), may_hide_text(style)
        hidden, text_may_hide = checked[key]
        if hidden:
            if element not in panels and not page.is_mostly(len(element.text)):
                pieces.append([element])
        elif (text_may_hide or element.tag == "font") and walked.isdisjoint(element.ancestors):
            walked.add(element)
            pieces.append(list(text_styles.hidden_text(element)))
    layouts = (Layers(cascade, external=external), Cropping(cascade, external=external))
    pieces += [
        piece
        for layout in layouts
        for piece in layout.hidden()
        if not page.is_mostly(sum(len(node.text) for node in piece))
    ]
    return [] if _is_everything(pieces, document) else pieces


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
