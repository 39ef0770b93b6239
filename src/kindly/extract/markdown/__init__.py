"""Markdown writer: normalises code, lists, tables, footnotes and formulas in a tree and renders it.

Formulas and footnote marks are verbatim elements: inline elements with a custom tag whose text is never escaped.
"""

from turbohtml import Element, Node, Text

VERBATIM_TAG = "x-verbatim"


def verbatim(text: str) -> Element:
    """An inline element whose text is rendered without escaping."""
    return Element(VERBATIM_TAG, children=[Text(text)])


def filled_sibling(element: Element, *, back: bool) -> Node | None:
    """The next or previous node that is an element or has text."""
    node = element.previous_sibling if back else element.next_sibling
    while node is not None and not isinstance(node, Element) and not node.text.strip():
        node = node.previous_sibling if back else node.next_sibling
    return node
