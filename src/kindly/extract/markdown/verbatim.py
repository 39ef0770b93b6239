"""Text that no renderer may escape: formulas and footnote marks, as elements of one made-up tag."""

from turbohtml import Element, Text

TAG = "x-verbatim"


def verbatim(text: str) -> Element:
    """An inline element whose text reaches the output as it is."""
    return Element(TAG, children=[Text(text)])


def as_written(element: Element, _: str) -> str:
    """The Markdown of such an element."""
    return element.text
