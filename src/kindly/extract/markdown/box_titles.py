"""Titles of boxes (tab panels, admonitions, code blocks) → a bold line at the start of each box.

Documentation sites put the labels of all tabs in one row, and the title of a box in an element that looks like a button
or a caption. `mark_box_titles` writes each title to its box before the main content is chosen; `insert_box_titles` puts
it back as text in the boxes that are left. The tree is changed in place.
"""

from collections.abc import Iterator, Sequence

from turbohtml import Document, Element, Text

TITLE = "x-title"
"""The attribute with the title of a box."""
SHOWN_TITLE = "x-shown-title"
"""The attribute of an element whose text is in the title of a box."""
ADMONITION_TITLES = (
    ".admonition-title, .custom-block-title, [class*=admonitionHeading], .markdown-alert-title, .callout-title, "
    ".starlight-aside__title"
)
CODE_TITLES = (
    ".filename, .code-block-caption, [class*=codeBlockTitle], [data-rehype-pretty-code-title], .code-title, "
    ".code-block-title, .gatsby-code-title, .remark-code-title, .expressive-code figcaption"
)
TAB_ROW_TAGS = ("div", "ul", "nav")
TAB_LABELS = "label[class*=tab][for]"
PERMALINKS = "a.headerlink, a.hash-link, a.header-anchor, button"
TITLE_CHARACTERS = 120
MAX_BOXES = 1_000
CODE_NESTING = 5
"""How far up from its title the code is looked for."""


def mark_box_titles(document: Document) -> None:
    """Write the title of each box to an attribute of the box, and mark the elements that show it."""
    for element in document.select(f"[{TITLE}], [{SHOWN_TITLE}]"):
        for name in (TITLE, SHOWN_TITLE):
            element.attrs.pop(name, None)
    for row in _tab_rows(document)[:MAX_BOXES]:
        _mark_panels(row)
    for label in document.select(TAB_LABELS)[:MAX_BOXES]:
        panel = _next(label)
        if SHOWN_TITLE not in label.attrs and panel is not None and panel.tag == "div":
            _mark(panel, label)
    for title in document.select(ADMONITION_TITLES)[:MAX_BOXES]:
        box = title.parent
        if isinstance(box, Element) and box.tag not in ("body", "main", "article"):
            _mark(box, title)
    for title in document.select(CODE_TITLES)[:MAX_BOXES] if document.select_one("pre") else ():
        code = _code_of(title)
        if code is not None:
            _mark(code, title)


def insert_box_titles(root: Element) -> None:
    """Insert the title of each marked box as a bold paragraph, and remove the elements that showed it."""
    for shown in root.select(f"[{SHOWN_TITLE}]"):
        if shown.select_one(f"[{TITLE}]") is None:
            shown.decompose()
    for box in root.select(f"[{TITLE}]"):
        strong = Element("strong", children=[Text(str(box.attrs.pop(TITLE)))])
        title = Element("p", children=[strong])
        if box.tag == "pre":
            box.insert_before(title)
        else:
            box.insert(0, title)


def _tab_rows(document: Document) -> list[Element]:
    """Elements that say that they are rows of tabs, and those that have the labels of inputs as children."""
    parents = (label.parent for label in document.select("label[for]"))
    rows = dict.fromkeys(at for at in parents if isinstance(at, Element) and at.tag in TAB_ROW_TAGS)
    return [*document.select("[role=tablist]"), *(at for at in rows if at.attr("role") is None)]


def _mark(box: Element, title: Element) -> None:
    text = _text(title)
    if text and len(text) <= TITLE_CHARACTERS and TITLE not in box.attrs:
        box.attrs[TITLE] = text
        title.attrs[SHOWN_TITLE] = ""


def _text(title: Element) -> str:
    shown = title.text
    for extra in title.select(PERMALINKS):
        shown = shown.replace(extra.text, "", 1)
    return " ".join(shown.split())


def _mark_panels(row: Element) -> None:
    """Mark the panels of a row of tabs: those of its widget, or the parts of the element after it, in order."""
    labels = row.select("[role=tab]") or [
        child for child in _children(row) if child.tag == "label" and child.attr("for")
    ]
    if row.attr("role") != "tablist" and len(labels) != len(_children(row)):
        return
    panels = _panels(row, len(labels))
    if labels and len(panels) == len(labels):
        for panel, label in zip(panels, labels, strict=True):
            _mark(panel, label)


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
