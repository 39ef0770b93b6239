"""Lists → tight Markdown lists: definitions on one line, cards and boxes unwrapped, no stray and no empty items.

The tree is changed in place.
"""

from turbohtml import Document, Element, Node, Text

from kindly.extract.markdown import verbatim

HEADINGS = "h1, h2, h3, h4, h5, h6"
BLOCKS = "p, div, ul, ol, dl, pre, table, blockquote, h1, h2, h3, h4, h5, h6, section, figure"
LISTS = ("ul", "ol")
WRAPPERS = (*LISTS, "div", "nav", "section", "span")
TERM_CHARACTERS = 120
TASKS = "li > input[type=checkbox][disabled], li > p > input[type=checkbox][disabled], li > label > input[disabled]"
"""The check boxes of task lists. Those of forms are not disabled."""
MAX_TASKS = 2_000


def mark_tasks(document: Document) -> None:
    """Replace the check box of each task by `[x]` or `[ ]`, before form controls are removed."""
    for box in document.select(TASKS)[:MAX_TASKS]:
        mark = verbatim("[ ]" if box.attr("checked") is None else "[x]")
        label = box.parent
        bare = isinstance(label, Element) and label.tag == "label" and not label.text.strip()
        place = label if bare and isinstance(label, Element) else box
        place.replace_with(mark, Text(" "))


def normalise_lists(root: Element) -> None:
    """Tighten lists and join definitions with their terms."""
    _enclose_stray_items(root)
    for heading in root.select(":is(h1, h2, h3, h4, h5, h6):has(li)"):
        _move_lists_below(heading)
    for box in root.select("blockquote:has(> ul), blockquote:has(> ol)"):
        if box.attr("cite") is None and box.select_one("cite, footer") is None:
            box.tag = "div"
    for list_element in {
        item.closest("ul, ol") for item in root.select("li h1, li h2, li h3, li h4, li h5, li h6")
    }:
        if list_element is not None and list_element.closest("table") is None:
            _unwrap_cards(list_element)
    for item in reversed(root.select("li")):
        _hoist_inner_list(item)
    for item in root.select("li"):
        _tighten(item)
    for definitions in root.select("dl"):
        _join_definitions(definitions)


def _enclose_stray_items(root: Element) -> None:
    """Put items without a list into one, together with those directly before them; a selected item stays as it is."""
    enclosing: Element | None = None
    for item in root.select("li"):
        if item.parent == root or item.closest("ul, ol, menu") is not None:
            continue
        if enclosing is None or _next_filled(enclosing) != item:
            enclosing = Element("ul")
            item.insert_before(enclosing)
        enclosing.append(item.extract())


def _move_lists_below(heading: Element) -> None:
    """Move the lists in a heading below it: a heading is one line."""
    for inner in reversed(heading.select("ul, ol")):
        if inner.closest("li") is None:
            heading.insert_after(inner.extract())
    if not heading.text.strip():
        heading.decompose()


def _hoist_inner_list(item: Element) -> None:
    """Put the items of a list that is alone in an item in its place, so that no bullet is empty."""
    outer, inner = item.parent, _only_list(item)
    if inner is None or not isinstance(outer, Element) or outer.tag not in LISTS:
        return
    if not any(_is_filled(child) for child in outer.children if child != item):
        outer.tag = inner.tag
    if outer.tag == inner.tag:
        item.replace_with(*[node.extract() for node in list(inner.children)])


def _only_list(item: Element) -> Element | None:
    """The list that is all there is in an item."""
    inside = item
    while inside.tag not in LISTS:
        filled = [child for child in inside.children if _is_filled(child)]
        if len(filled) != 1 or not isinstance(filled[0], Element):
            return None
        inside = filled[0]
        if inside.tag not in WRAPPERS:
            return None
    return inside


def _is_filled(node: Node) -> bool:
    """Whether a node has text or a picture."""
    if node.text.strip():
        return True
    return isinstance(node, Element) and (
        node.tag == "img" or node.select_one("img, hr, table, math") is not None
    )


def _unwrap_cards(list_element: Element) -> None:
    """Unwrap a list whose items mostly start with a heading: it has sections, not points."""
    items = [
        child for child in list_element.children if isinstance(child, Element) and child.tag == "li"
    ]
    if 2 * sum(_starts_with_heading(item) for item in items) < len(items):
        return
    for item in items:
        item.tag = "div"
    list_element.tag = "div"


def _starts_with_heading(item: Element) -> bool:
    heading = item.select_one(HEADINGS)
    return heading is not None and item.text.lstrip().startswith(heading.text.strip())


def _tighten(item: Element) -> None:
    """Unwrap a paragraph or box that is alone in its item, or followed only by an inner list."""
    filled = [child for child in item.children if isinstance(child, Element) or child.text.strip()]
    if not filled:
        return
    first = filled[0]
    rest = filled[1:]
    if not isinstance(first, Element) or first.tag not in ("p", "div", "span"):
        return
    if any(not isinstance(node, Element) or node.tag not in ("ul", "ol") for node in rest):
        return
    inner = first.select_one(BLOCKS)
    if inner is None and first.tag != "span":
        first.unwrap()
    elif inner is not None and not rest and first.tag in ("div", "span"):
        first.unwrap()
        _tighten(item)


def _join_definitions(definitions: Element) -> None:
    """Write `term: definition` on one line if the definition has no blocks; otherwise the term has its own line."""
    for term in definitions.select("dt"):
        if term.closest("dl") != definitions:
            continue
        meaning = _next(term)
        text = " ".join(term.text.split())
        plain = term.select_one(f"{BLOCKS}, code, strong, b, a") is None
        if plain and text and len(text) <= TERM_CHARACTERS:
            term.wrap_children(Element("strong"))
        if (
            meaning is None
            or meaning.tag != "dd"
            or not text
            or meaning.select_one(BLOCKS) is not None
        ):
            continue
        following = _next(meaning)
        if following is not None and following.tag == "dd":
            continue
        _join(term, meaning, text)


def _join(term: Element, meaning: Element, text: str) -> None:
    if not meaning.text.strip():
        return
    term.append(Text(" " if text.endswith((":", "?", "=")) else ": "))
    term.extend([node.extract() for node in list(meaning.children)])
    meaning.decompose()


def _next(element: Element) -> Element | None:
    node: Node | None = element.next_sibling
    while node is not None and not isinstance(node, Element):
        node = node.next_sibling
    return node


def _next_filled(element: Element) -> Node | None:
    """The next sibling that is more than white space."""
    return next((node for node in element.next_siblings if not _is_space(node)), None)


def _is_space(node: Node) -> bool:
    return isinstance(node, Text) and node.data.isspace()
