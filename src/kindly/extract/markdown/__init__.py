"""Markdown writer: normalises code, lists, tables, footnotes and formulas in a tree and renders it.

Formulas and footnote marks are verbatim elements: inline elements with a custom tag whose text is never escaped.
"""

from turbohtml import Element, Text

VERBATIM_TAG = "x-verbatim"


def verbatim(text: str) -> Element:
    """An inline element whose text is rendered without escaping."""
    return Element(VERBATIM_TAG, children=[Text(text)])
