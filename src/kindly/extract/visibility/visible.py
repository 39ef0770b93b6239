"""Hidden text removal: removes from a page's tree what a person would not see, and counts it.

It uses markup, inline styles and the page's own stylesheets, but no layout and no scripts. In doubt text is kept.
"""

from collections.abc import Sequence

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
    fallbacks = sum(bool(element.text.strip()) for element in document.iter_elements(FALLBACKS))
    document.remove(NOT_TEXT)
    cascade = Cascade(document)
    document.remove("style")
    page_characters = len(document.text)
    panels = _collapsible_panels(document, cascade)
    pieces: list[Piece] = [
        [element]
        for element in document.select(HIDDEN_MARKUP)
        if element not in panels
        and not _is_displayed(element, cascade)
        and not _shown_by_script(len(element.text), page_characters)
    ]
    pieces += [[rp] for rp in document.select("rp") if len(rp.text.strip()) > MAX_PARENTHESIS]
    pieces += _hidden_by_style(document, cascade, panels, page_characters)
    return fallbacks + _remove(pieces)


def _is_displayed(element: Element, cascade: Cascade) -> bool:
    """Whether the page's own style shows an element that an attribute would hide."""
    display = cascade.of(element).get("display", "none")
    return display not in ("none", "") and any(
        element.attr(name) is not None for name in UNLESS_DISPLAYED
    )


def _collapsible_panels(document: Document, cascade: Cascade) -> set[Node]:
    """Panels that a visitor can open: a visible tab or button controls them."""
    panels = document.select(PANELS)
    if not panels:
        return set()
    unlinked = _panels_by_place(document, cascade)
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
        if (
            panel.attr("id") in controlled
            or panel.attr("aria-labelledby") in labels
            or panel in unlinked
        )
        and panel.closest(CHROME) is None
    }


def _panels_by_place(document: Document, cascade: Cascade) -> set[Node]:
    """The panels of tabs that name no panel: as many as there are visible tabs, in the element around both."""
    found: set[Node] = set()
    for row in document.select("[role=tablist]"):
        tabs = [tab for tab in row.select("[role=tab]") if tab.text.strip()]
        around = row.parent
        if not isinstance(around, Element) or row.closest(f"{CHROME}, [hidden]") is not None:
            continue
        if any(is_hidden(cascade.of(element)) for element in (row, *tabs)):
            continue
        panels = around.select("[role=tabpanel]")
        outer = [panel for panel in panels if set(panels).isdisjoint(panel.ancestors)]
        if len(outer) == len(tabs):
            found.update(outer)
    return found


def _hidden_by_style(
    document: Document, cascade: Cascade, panels: set[Node], page_characters: int
) -> list[Piece]:
    """The pieces that styles hide; none if that is the whole page, which a script will show."""
    external = document.select_one("link[rel~=stylesheet]") is not None
    text_styles = TextStyles(cascade, external=external)
    pieces: list[Piece] = []
    checked: dict[tuple[tuple[str, str], ...], tuple[bool, bool]] = {}
    walked: set[Node] = set()
    for element in (*cascade, *document.select("font[color]")):
        if element.tag in ("html", "body", "head"):
            continue
        style = cascade.of(element)
        key = tuple(style.items())
        if key not in checked:
            checked[key] = is_hidden(style), may_hide_text(style)
        hidden, text_may_hide = checked[key]
        if hidden:
            if element not in panels and not _shown_by_script(len(element.text), page_characters):
                pieces.append([element])
        elif (text_may_hide or element.tag == "font") and walked.isdisjoint(element.ancestors):
            walked.add(element)
            pieces.append(list(text_styles.hidden_text(element)))
    layouts = (Layers(cascade, external=external), Cropping(cascade, external=external))
    pieces += [
        piece
        for layout in layouts
        for piece in layout.hidden()
        if not _shown_by_script(sum(len(node.text) for node in piece), page_characters)
    ]
    return [] if _is_everything(pieces, document, page_characters) else pieces


def _is_everything(pieces: list[Piece], document: Document, page_characters: int) -> bool:
    """Whether these pieces are nearly all text of the page; nested pieces count once."""
    if page_characters <= REVEALED_CHARACTERS or not pieces:
        return False
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


def _shown_by_script(size: int, page_characters: int) -> bool:
    return size > REVEALED_CHARACTERS and size > REVEALED_SHARE * page_characters
