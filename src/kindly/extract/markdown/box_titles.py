"""Titles of boxes (tab panels, admonitions, code blocks) → a bold line at the start of each box.

Documentation sites put the labels of all tabs in one row, and the title of a box in an element that looks like a button
or a caption. `read_box_titles` finds the title of each box before the main content is chosen; `insert_box_titles` puts
it as text into the boxes that are left. The tree is changed in place.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from turbohtml import Document, Element, Text

from kindly.frozen import frozen

ADMONITION_TITLES = (
    "p:is(.admonition-title, .custom-block-title, .markdown-alert-title, .starlight-aside__title, .callout-title)",
    "div:is([class*=admonitionHeading], .callout-title, .admonition-title, .custom-block-title)",
    "summary:is(.admonition-title, .custom-block-title)",
    "span:is(.admonition-title, .callout-title)",
    *(f"{heading}[class*=admonitionHeading]" for heading in ("h4", "h5", "h6")),
)
"""One selector a tag: the parser finds elements by their tag much faster than by any of several selectors."""
CODE_TITLES = (
    ".filename, .code-block-caption, [class*=codeBlockTitle], [data-rehype-pretty-code-title], .code-title, "
    ".code-block-title, .gatsby-code-title, .remark-code-title, .expressive-code figcaption"
)
TAB_LISTS = tuple(
    f"{tag}[role=tablist]" for tag in ("div", "ul", "ol", "nav", "section", "header", "span", "p")
)
TAB_ROW_TAGS = ("div", "ul", "nav")
TAB_LABELS = "label[class*=tab][for]"
PERMALINKS = "a.headerlink, a.hash-link, a.header-anchor, button"
TITLE_CHARACTERS = 120
MAX_BOXES = 1_000
CODE_NESTING = 5
"""How far up from its title the code is looked for."""


@frozen
class BoxTitles:
    """The titles of the boxes of a page."""

    of: dict[Element, str] = field(default_factory=dict)
    """Box → title."""
    shown: dict[Element, None] = field(default_factory=dict)
    """The elements whose text is the title of a box, in order."""

    def add(self, box: Element, title: Element) -> None:
        """Add a title, unless it is long or the box has one."""
        text = _text(title)
        if text and len(text) <= TITLE_CHARACTERS and box not in self.of:
            self.of[box] = text
            self.shown[title] = None


def read_box_titles(document: Document) -> BoxTitles:
    """The title of each box."""
    titles = BoxTitles()
    for row in _tab_rows(document)[:MAX_BOXES]:
        for part, label in _panels_with_labels(row):
            titles.add(part, label)
    for label in document.select(TAB_LABELS)[:MAX_BOXES]:
        panel = _next(label)
        if label not in titles.shown and panel is not None and panel.tag == "div":
            titles.add(panel, label)
    for title in _select_each(document, ADMONITION_TITLES)[:MAX_BOXES]:
        box = title.parent
        if isinstance(box, Element) and box.tag not in ("body", "main", "article"):
            titles.add(box, title)
    for title in document.select(CODE_TITLES)[:MAX_BOXES] if document.select_one("pre") else ():
        code = _code_of(title)
        if code is not None:
            titles.add(code, title)
    return titles


def insert_box_titles(root: Element, titles: BoxTitles) -> None:
    """Insert the title of each box below the root as a bold paragraph, and remove the elements that showed it."""
    boxes = {box: title for box, title in titles.of.items() if root in box.ancestors}
    around = {above for box in boxes for above in box.ancestors}
    for shown in titles.shown:
        if root in shown.ancestors and shown not in around and shown not in boxes:
            shown.decompose()
    for box, text in boxes.items():
        strong = Element("strong", children=[Text(text)])
        title = Element("p", children=[strong])
        if box.tag == "pre":
            box.insert_before(title)
        else:
            box.insert(0, title)


def _select_each(document: Document, selectors: Iterable[str]) -> list[Element]:
    return [element for selector in selectors for element in document.select(selector)]


def _tab_rows(document: Document) -> list[Element]:
    """Elements that say that they are rows of tabs, and those that have the labels of inputs as children."""
    parents = (label.parent for label in document.select("label[for]"))
    rows = dict.fromkeys(at for at in parents if isinstance(at, Element) and at.tag in TAB_ROW_TAGS)
    return [*_select_each(document, TAB_LISTS), *(at for at in rows if at.attr("role") is None)]


def _text(title: Element) -> str:
    shown = title.text
    for extra in title.select(PERMALINKS):
        shown = shown.replace(extra.text, "", 1)
    return " ".join(shown.split())


def _panels_with_labels(row: Element) -> list[tuple[Element, Element]]:
    """The panels of a row of tabs, those of its widget or the parts of the element after it, with their labels."""
    labels = row.select("[role=tab]") or [
        child for child in _children(row) if child.tag == "label" and child.attr("for")
    ]
    if row.attr("role") != "tablist" and len(labels) != len(_children(row)):
        return []
    panels = _panels(row, len(labels))
    return list(zip(panels, labels, strict=True)) if len(panels) == len(labels) else []


def _panels(row: Element, count: int) -> Sequence[Element]:
    around = row.parent
    if isinstance(around, Element):
        panels = [panel for panel in around.select("[role=tabpanel]") if _owner(panel) == around]
        if len(panels) == count:
            return panels
    following = _next(row)
    parts = _children(following) if following is not None else []
    return parts if count > 1 or any(part.select_one("pre") for part in parts) else []


def _owner(panel: Element) -> Element | None:
    """The element that holds a panel and its row of tabs."""
    for around in panel.ancestors:
        if isinstance(around, Element) and any(
            child.attr("role") == "tablist" for child in _children(around)
        ):
            return around
    return None


def _code_of(title: Element) -> Element | None:
    """The code below a title: the last `pre` of the smallest element around both that has one."""
    for around in _around(title):
        blocks = around.select("pre")
        if blocks:
            numbers = around.select(".linenos pre, .linenodiv pre")
            return blocks[-1] if len(blocks) - len(numbers) == 1 else None
    return None


def _around(element: Element) -> Iterator[Element]:
    for around, _ in zip(element.ancestors, range(CODE_NESTING), strict=False):
        if isinstance(around, Element) and around.tag not in ("body", "main", "article"):
            yield around


def _children(element: Element) -> list[Element]:
    return [child for child in element.children if isinstance(child, Element)]


def _next(element: Element) -> Element | None:
    node = element.next_sibling
    while node is not None and not isinstance(node, Element):
        node = node.next_sibling
    return node
