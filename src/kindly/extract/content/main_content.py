"""Main content extraction (boilerplate removal): a page's tree → the element that holds its main content.

The tree is split into blocks, a trained classifier selects the content, and elements without a selected block are
removed. Short and very large pages are handled by rules. The tree is changed in place and never left empty.
"""

from turbohtml import Document, Element

from kindly.extract.content.blocks import Blocks, read_blocks
from kindly.extract.content.content_rules import content_by_rules
from kindly.extract.content.named_boilerplate import boilerplate_elements
from kindly.extract.content.page_kind import Hints
from kindly.extract.repeats import copies

NO_HINTS = Hints()
SHORT_PAGE = 1_000
"""Pages with less text than this, in characters, are handled by rules."""
CELLS = frozenset({"td", "th"})
MANY_BLOCKS = 15_000
"""Pages with more blocks than this are handled by rules, to bound memory."""
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ITEMS = frozenset({"li", "dd"})
ITEM_LEVELS = 3
VERBATIM = ("table", "pre")
"""Elements whose text may repeat."""


def main_content(document: Document, hints: Hints = NO_HINTS) -> Element:
    """The element with the page's main content; the tree is pruned in place."""
    body = document.select_one("body")
    if body is None:
        return Element("body")
    blocks = read_blocks(body)
    count = len(blocks.texts)
    boilerplate = boilerplate_elements(blocks)
    if count > MANY_BLOCKS or sum(map(len, blocks.texts)) < SHORT_PAGE:
        for at in boilerplate:
            blocks.elements[at].decompose()
        return content_by_rules(body)
    _prune(blocks, without_copies(blocks, _classify(blocks, hints, boilerplate)))
    return body


def _classify(blocks: Blocks, hints: Hints, boilerplate: list[int]) -> list[bool]:
    from kindly.extract.content.classify import load_model  # numpy is slow to import

    keep: list[bool] = load_model().keep(blocks, hints, boilerplate).tolist()
    return keep


def without_copies(blocks: Blocks, keep: list[bool]) -> list[bool]:
    """The selection without repeated text.

    Rows of tables, code, items under different headings and texts side by side in one element may repeat.
    """
    prose = keep.copy()
    for tag in VERBATIM:
        for at in blocks.by_tag.get(tag, ()):
            start, end = blocks.starts[at], blocks.ends[at]
            prose[start:end] = [False] * (end - start)
    found = copies(blocks.texts, prose)
    if not found:
        return keep
    sections = _sections(blocks)
    dropped = {
        at
        for at, original in found.items()
        if _place(blocks, at) != _place(blocks, original)
        and (sections[at] == sections[original] or not _is_item(blocks, at))
    }
    return [kept and at not in dropped for at, kept in enumerate(keep)]


def _place(blocks: Blocks, block: int) -> int:
    """The number of the element around the one that contains a block."""
    return blocks.parents[blocks.containers[block]]


def _is_item(blocks: Blocks, block: int) -> bool:
    """Whether a block is a list item or a part of one."""
    at = blocks.containers[block]
    for _ in range(ITEM_LEVELS):
        if blocks.signature_tags[blocks.signatures[at]] in ITEMS:
            return True
        at = blocks.parents[at]
    return False


def _sections(blocks: Blocks) -> list[str]:
    """For each block the text of the heading above it, or of itself."""
    heading, sections = "", []
    for text, container in zip(blocks.texts, blocks.containers, strict=True):
        if blocks.signature_tags[blocks.signatures[container]] in HEADINGS:
            heading = text
        sections.append(heading)
    return sections


def _prune(blocks: Blocks, keep: list[bool]) -> None:
    """Remove the elements without a kept block, and from the others the text that is not kept."""
    kept_before = [0]
    for kept in keep:
        kept_before.append(kept_before[-1] + kept)
    removed = [False] * len(blocks.elements)
    for index, element in enumerate(blocks.elements):
        start, end = blocks.starts[index], blocks.ends[index]
        if removed[blocks.parents[index]]:
            removed[index] = True
        elif start < end and kept_before[start] == kept_before[end]:
            removed[index] = True
            _drop(element)
    for block, kept in enumerate(keep):
        if not kept and not removed[blocks.containers[block]]:
            for node in blocks.nodes[block]:
                node.extract()


def _drop(element: Element) -> None:
    """Remove an element; a table cell stays empty, because without it the cells after it would move."""
    if element.tag in CELLS:
        element.clear()
    else:
        element.decompose()
