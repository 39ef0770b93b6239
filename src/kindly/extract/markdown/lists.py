"""Lists of a page → lists as Markdown draws them best: tight, definitions in one line, cards and boxes undone.

Works on the tree in place.
"""

from turbohtml import Element, Node, Text

HEADINGS = "h1, h2, h3, h4, h5, h6"
BLOCKS = "p, div, ul, ol, dl, pre, table, blockquote, h1, h2, h3, h4, h5, h6, section, figure"
TERM_CHARACTERS = 120


def settle_lists(root: Element) -> None:
    """Tighten lists and put definitions beside their terms."""
    for box in root.select("blockquote:has(> ul), blockquote:has(> ol)"):
        if box.attr("cite") is None and box.select_one("cite, footer") is None:
            box.tag = "div"
    for listed in {
        item.closest("ul, ol") for item in root.select("li h1, li h2, li h3, li h4, li h5, li h6")
    }:
        if listed is not None and listed.closest("table") is None:
            _undo_cards(listed)
    for item in root.select("li"):
        _tighten(item)
    for definitions in root.select("dl"):
        _settle_definitions(definitions)


def _undo_cards(listed: Element) -> None:
    """A list whose items mostly open with a heading holds sections, not points."""
    items = [child for child in listed.children if isinstance(child, Element) and child.tag == "li"]
    if 2 * sum(_opens_with_heading(item) for item in items) < len(items):
        return
    for item in items:
        item.tag = "div"
    listed.tag = "div"


def _opens_with_heading(item: Element) -> bool:
    heading = item.select_one(HEADINGS)
    return heading is not None and item.text.lstrip().startswith(heading.text.strip())


def _tighten(item: Element) -> None:
    """A paragraph or box that is alone in its item, or stands only before an inner list, needs no lines around it."""
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


def _settle_definitions(definitions: Element) -> None:
    """`term: definition` in one line where both are short, the term as a heading line where not."""
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
