"""Rule-based boilerplate removal for short pages, which have too little text for the classifier.

The rules use tag names, roles, class names and link density. The tree is changed in place and never left empty.
"""

import re
from functools import lru_cache

from turbohtml import Element, Node, Text

BOILERPLATE_TAGS = frozenset({"nav", "footer", "menu", "button"})
BOILERPLATE_ROLES = """
    navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar
"""
BOILERPLATE_NAMES = """
    nav navbar navigation navigator menu menus submenu megamenu breadcrumb breadcrumbs crumbs footer foot sidebar
    sidenav cookie cookies consent gdpr share sharing sharebar shares social socials newsletter subscribe
    subscription signup login signin promo promotion promoted advert advertisement advertising ads ad adsense
    sponsor sponsored popup modal lightbox overlay related recommended recommendations toolbar pagination pager
    paging skip masthead copyright toc tags taglist byline disclaimer topbar bottombar offcanvas drawer dropdown
    printfriendly noprint outbrain taboola disqus feedback rating ratings upsell backtotop
"""
CONTENT_NAMES = """
    article content main body post entry story text thread topic message answer question product description detail
    details readme docs doc
"""
LAYOUT_NAMES = frozenset({"has", "with", "no", "without", "layout", "enabled", "disabled"})
"""Words of a name that describes a layout or a state: `has-sidebar`."""
COMMENT_NAMES = frozenset({"comments", "comment", "commentlist", "respond", "discussion"})
CALLOUT_NAMES = """
    note tip warning admonition callout info important caution example
"""
ROLES, BOILERPLATE, CONTENT, CALLOUTS = (
    frozenset(words.split())
    for words in (BOILERPLATE_ROLES, BOILERPLATE_NAMES, CONTENT_NAMES, CALLOUT_NAMES)
)
CANDIDATES = ", ".join(
    [
        *sorted(BOILERPLATE_TAGS),
        *(f"[role={role}]" for role in sorted(ROLES)),
        "aside",
        "header",
        "[class]",
        "[id]",
    ]
)
KEPT_TAGS = frozenset({"article", "body", "main", "pre", "code", "table"})
NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")

MAIN_HINTS = (
    "[itemprop=articleBody], [itemprop=reviewBody]",
    "main, [role=main]",
    "article",
)
MAIN_SHARE = (0.55, 0.3, 0.6)
"""The share of the page's prose that a hinted element must hold to be trusted, for each row of `MAIN_HINTS`."""

DESCENT_SHARE = 0.92
DESCENT_CHARACTERS = 500
"""A page with less prose than this is not narrowed down."""
BLOCK_TAGS = "div section ul ol dl table p aside header form details nav center td"
BLOCKS = frozenset(BLOCK_TAGS.split())
CONTAINERS = frozenset(
    {"div", "section", "article", "main", "center", "form", "table", "tbody", "tr", "td"}
)
LINK_DENSE = 0.6
LINK_DISCOUNT = 0.8
MOSTLY_LINKS = 0.4
MANY_LINKS = 3
RELATED_HEADING = re.compile(
    r"(?:related|recommended|more (?:from|in|on|stories|articles|posts)|you (?:may|might) (?:also )?(?:like|enjoy)|"
    r"(?:read|see) (?:also|more|next)|also (?:read|on)|popular|trending|latest|recent|most (?:read|popular|viewed)|"
    r"share (?:this|on)|follow us|tags?|categories|newsletter|sign up|subscribe|leave a (?:reply|comment)|"
    r"about the author|advertisement|sponsored|up next|keep reading|table of contents|on this page)\b",
    re.I,
)


class TextMeasure:
    """Counts characters of text and of link text below every element of a tree, in one pass."""

    def __init__(self, root: Node) -> None:
        self._text: dict[Node, int] = {}
        self._links: dict[Node, int] = {}
        elements: list[Element] = []
        for node in root.descendants:
            if isinstance(node, Element):
                elements.append(node)
            elif isinstance(node, Text) and (size := len(node.data.strip())):
                parent = node.parent
                if parent is not None:
                    self._text[parent] = self._text.get(parent, 0) + size
        for element in reversed(elements):
            size = self._text.get(element, 0)
            links = size if element.tag == "a" else self._links.get(element, 0)
            parent = element.parent
            if size and parent is not None:
                self._text[parent] = self._text.get(parent, 0) + size
                if links:
                    self._links[element] = links
                    self._links[parent] = self._links.get(parent, 0) + links

    def text(self, node: Node) -> int:
        return self._text.get(node, 0)

    def prose(self, node: Node) -> float:
        """Characters of text, with a discount on link text."""
        return self._text.get(node, 0) - LINK_DISCOUNT * self._links.get(node, 0)

    def link_share(self, node: Node) -> float:
        """Link density: the share of link text, 0 to 1."""
        text = self._text.get(node, 0)
        return self._links.get(node, 0) / text if text else 0.0


def content_by_rules(body: Element) -> Element:
    """The element with the page's main content; the tree is pruned in place."""
    _prune(body)
    measure = TextMeasure(body)
    start = _hinted_content(body, measure)
    root = _descend(start, measure)
    _prune_links(root, measure)
    _prune_teasers(root, measure)
    _move_title_inside(root, body)
    return root


def _prune(body: Element) -> None:
    measure = TextMeasure(body)
    kept = body.select("main, [role=main], h1")
    protected = {node for element in kept for node in (element, *element.ancestors)}
    candidates = [
        element
        for element in body.select(CANDIDATES)
        if element not in protected and _is_boilerplate(element)
    ]
    _remove(candidates, body, measure, keep_share=0.35)
    comments = [
        element
        for element in body.select("[class*=omment], [id*=omment], [id*=respond]")
        if element not in protected and not COMMENT_NAMES.isdisjoint(_names(element))
    ]
    if comments:
        _remove(comments, body, TextMeasure(body), keep_share=0.5)


def _remove(
    candidates: list[Element], body: Element, measure: TextMeasure, *, keep_share: float
) -> None:
    """Remove elements, smallest first, while at least `keep_share` of the page's prose and some text remain."""
    chosen = set(candidates)
    outermost = [element for element in candidates if chosen.isdisjoint(element.ancestors)]
    prose, text = measure.prose(body), measure.text(body)
    least = keep_share * prose
    for element in sorted(outermost, key=measure.prose):
        prose -= measure.prose(element)
        is_links = measure.link_share(element) > LINK_DENSE
        if text > measure.text(element) and (prose >= least or is_links):
            text -= measure.text(element)
            element.decompose()


def _is_boilerplate(element: Element) -> bool:
    if element.tag in KEPT_TAGS:
        return False
    if element.tag in BOILERPLATE_TAGS or element.attr("role") in ROLES:
        return True
    if element.tag == "aside":
        return CALLOUTS.isdisjoint(_names(element))
    if element.tag == "header":
        return element.closest("main, article, [role=main]") is None
    return _names_boilerplate(_name_text(element))


def _names(element: Element) -> frozenset[str]:
    return _words(_name_text(element))


def _name_text(element: Element) -> str:
    return f"{element.attr('class') or ''} {element.attr('id') or ''}"


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    return frozenset(part.lower() for part in NAME_PART.findall(text))


@lru_cache(maxsize=8192)
def _names_boilerplate(text: str) -> bool:
    names = frozenset[str]().union(
        *(words for name in text.split() if LAYOUT_NAMES.isdisjoint(words := _words(name)))
    )
    return not BOILERPLATE.isdisjoint(names) and CONTENT.isdisjoint(_words(text))


def _hinted_content(body: Element, measure: TextMeasure) -> Element:
    """The smallest element that the page marks as its content and that holds most of the prose."""
    total = measure.prose(body)
    start = body
    for hint, share in zip(reversed(MAIN_HINTS), reversed(MAIN_SHARE), strict=True):
        best = max(start.select(hint), key=measure.prose, default=None)
        if best is not None and measure.prose(best) >= share * total:
            start = best
    return start


def _descend(start: Element, measure: TextMeasure) -> Element:
    """Descend while a single container holds nearly all prose."""
    root = start
    while True:
        enough = max(DESCENT_CHARACTERS, DESCENT_SHARE * measure.prose(root))
        container = next((child for child in root.children if measure.prose(child) >= enough), None)
        if not isinstance(container, Element) or container.tag not in CONTAINERS:
            return root
        root = container


def _prune_links(root: Element, measure: TextMeasure) -> None:
    """Remove lists of links; a page that is mostly links keeps them."""
    if measure.link_share(root) > MOSTLY_LINKS:
        return
    for element in root.select(", ".join(sorted(BLOCKS))):
        small = measure.text(element) < 0.3 * measure.text(root)
        dense = measure.link_share(element) > LINK_DENSE
        if small and dense and not _is_worth_keeping(element) and not _is_in_data_table(element):
            element.decompose()


def _is_in_data_table(element: Element) -> bool:
    """Whether the element is a part of a table with headers, which is kept or removed whole."""
    table = element.closest("table") if element.tag != "table" else None
    return table is not None and table.select_one("th") is not None and not table.select("table")


def _is_worth_keeping(element: Element) -> bool:
    """Whether a link-heavy block is part of the text: a heading, code, or a sentence with a link or two."""
    if element.select_one("pre, h1, h2") is not None:
        return True
    return element.tag == "p" and len(element.select("a")) < MANY_LINKS


def _prune_teasers(root: Element, measure: TextMeasure) -> None:
    """Remove blocks that start with a heading such as "Related articles"."""
    for heading in root.select("h2, h3, h4, h5, h6"):
        if not RELATED_HEADING.match(heading.text.strip()):
            continue
        block = _outermost_of(heading, root, measure)
        parent = block.parent
        if not isinstance(parent, Element) or parent == root or not _starts_with(parent, block):
            continue
        if measure.prose(parent) < 0.3 * measure.prose(root):
            parent.decompose()


def _outermost_of(heading: Element, root: Element, measure: TextMeasure) -> Element:
    """The outermost element that holds this heading and no other text."""
    block = heading
    while isinstance(parent := block.parent, Element) and parent != root:
        if measure.text(parent) > measure.text(heading):
            break
        block = parent
    return block


def _starts_with(parent: Element, block: Element) -> bool:
    for child in parent.children:
        if child == block:
            return True
        if child.text.strip():
            return False
    return False


def _move_title_inside(root: Element, body: Element) -> None:
    """Move the page's only first-level heading to the top of the content if it is outside."""
    titles = [title for title in body.select("h1") if title.text.strip()]
    if len(titles) == 1 and root != titles[0] and root not in titles[0].ancestors:
        root.insert(0, titles[0].extract())
