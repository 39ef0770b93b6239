"""Hidden elements that a visitor gets to see: panels to open, text that fades in, content that waits for a script."""

from collections.abc import Mapping

from turbohtml import Document, Element

from kindly.extract.visibility.layout.off_screen import is_off_screen
from kindly.extract.visibility.revealed.fade_ins import fade_ins
from kindly.extract.visibility.revealed.panels import Panels, is_closed
from kindly.extract.visibility.style import Style

MAIN = "main, [role=main]"
MAIN_SHARE = 0.8
MAIN_CHARACTERS = 600
"""An element with this much of the main element's text is hidden only until a script shows it."""


def shown_later(document: Document, hidden: Mapping[Element, Style]) -> set[Element]:
    """Those of the hidden elements whose text a visitor gets to see."""
    if not hidden:
        return set()
    on_screen = {
        element: style
        for element, style in hidden.items()
        if len(element) and not is_off_screen(style)
    }
    closed = [element for element, style in on_screen.items() if is_closed(element, style)]
    return (
        Panels(document, hidden).among(closed)
        | fade_ins(on_screen)
        | _main_content(document, on_screen)
    )


def _main_content(document: Document, hidden: Mapping[Element, Style]) -> set[Element]:
    """The hidden elements that have nearly all text of the page's main element."""
    sizes = {element: len(element.text) for element in hidden}
    if max(sizes.values(), default=0) <= MAIN_CHARACTERS:
        return set()  # most pages, without a search for the main element
    mains = document.select(MAIN)
    if len(mains) != 1:
        return set()
    whole = len(mains[0].text)
    return {
        element
        for element, size in sizes.items()
        if size > max(MAIN_CHARACTERS, MAIN_SHARE * whole)
        and (mains[0] in element.ancestors or element in mains[0].ancestors)
    }
