"""Outline of a page: add to the selected blocks their headings, the authors of posts, the footnotes they refer to, and
the table of contents in the text. One beside the text, in the site's navigation, is added to articles and long texts.
"""

import re
from collections.abc import Container, Iterator, Set
from itertools import chain, compress, count, repeat

import numpy as np
from numpy.typing import NDArray
from turbohtml import Text

from kindly.extract.content.blocks import BITS, Blocks
from kindly.extract.content.char_counts import Floats

Flags = NDArray[np.bool_]
Span = tuple[int, int]
"""The first block and one past the last."""

LEVELS = {f"h{level}": level for level in range(1, 7)}
HEADINGS_IN_A_ROW = 2
BYLINE_CHARACTERS = 40
"""Of a dropped block between a heading and its text: a date, a price, a label."""
LEAST_ENTRIES = 3
ENTRY_SHARE = 0.5
"""The share of a list's entries that must match kept headings for it to be a table of contents."""
NEW_SHARE = 0.5
"""The share of its entries that no other kept table of contents has."""
NOT_A_WORD = re.compile(r"[\W_]+")
LETTERS_OR_SPACE = bytes(code if chr(code).isalnum() else ord(" ") for code in range(256))
"""Translation table that normalises ASCII text like `NOT_A_WORD`, but faster."""
ENTRY_NUMBER = re.compile(r"(?:\d{1,3} )+(?=\S)")
"""The number at the start of a heading or an entry."""
SIDE_TAGS = frozenset({"nav", "aside"})
LONG_TEXT = 16_000
"""A text with so many characters has its table of contents even from beside the text."""
LABEL_CHARACTERS = 20
FOOTNOTES = re.compile(r"(?<![a-z])foot-?notes?(?![a-z])", re.I)
BACK_LINKS = "[class*=backref], [role=doc-backlink]"
"""Links from footnotes back to the text. Lists of literature seldom have them."""
MAX_REFERENCES = 5_000
POSTS = "[itemtype*=Comment], [itemtype*=DiscussionForumPosting], [itemtype*=Answer], [itemtype*=Question]"
AUTHOR_NAMES = f":is({POSTS}) :is([itemprop=author], [itemprop=creator]) [itemprop=name]"
POST_MARKS = BITS["type-comment"] | BITS["type-other"]
MAX_AUTHORS = 1_000
AUTHOR_CHARACTERS = 120
"""Of a block with the name of an author, which may have a date as well."""
AUTHOR_REACH = 8
"""How many blocks below the name of an author the text may start."""
LIKELY_HEADING = 0.3
"""A heading between kept blocks is kept without its text if its own probability is at least this."""
CERTAIN_HEADING = 0.6
"""And anywhere on the page, or above another heading, with this one."""
EXTRA_CHARACTERS = 30
"""How much longer an entry may be than its heading, for its number and symbols."""


def with_headings(blocks: Blocks, keep: Flags) -> Flags:
    """The kept blocks and the headings directly above them, or, below the title, above a short block before them."""
    levels = dict(_headings(blocks))
    kept_headings: dict[int, tuple[int, int]] = {}
    """First block of a heading → how many headings lead from it down to the text, and its level."""
    extended = keep.copy()
    labelled_code = _labelled_code(blocks, keep)
    for (start, end), level in reversed(levels.items()):
        below = kept_headings.get(end)
        if below is not None:
            rank, level_below = below
            introduces = rank < HEADINGS_IN_A_ROW and level <= level_below
        else:
            rank, introduces = 0, end < len(keep) and bool(keep[end] or end in labelled_code)
            introduces = introduces or (level > 1 and _is_above_a_byline(blocks, keep, end))
        if introduces:
            kept_headings[start] = (rank + 1, level)
            extended[start:end] = True
    return extended


def with_likely_headings(blocks: Blocks, keep: Flags, probabilities: Floats) -> Flags:
    """The kept blocks and the headings that are probably content, though the text below them is not: names of cards."""
    spans = [span for span, _ in _headings(blocks)]
    likely = ((probabilities >= LIKELY_HEADING) & ~keep).tolist()
    dropped = [(start, end) for start, end in spans if likely[start]]
    if not dropped:
        return keep
    in_heading = np.zeros(len(keep), np.bool_)
    for start, end in spans:
        in_heading[start:end] = True
    stops = np.append(np.flatnonzero(keep | in_heading), len(keep))
    kept = np.flatnonzero(keep)
    extended = keep.copy()
    for start, end in dropped:
        stop = stops[np.searchsorted(stops, end)]
        above_heading = stop < len(keep) and keep[stop] and in_heading[stop]
        between = kept[0] < start < kept[-1] and not above_heading
        if between or probabilities[start] >= CERTAIN_HEADING:
            extended[start:end] = True
    return extended


def _is_above_a_byline(blocks: Blocks, keep: Flags, at: int) -> bool:
    """Whether a short dropped block, such as a date or a price, is between a heading and kept text beside it."""
    if at + 1 >= len(keep) or not keep[at + 1] or len(blocks.texts[at]) > BYLINE_CHARACTERS:
        return False
    return blocks.signature_tags[blocks.signatures[blocks.containers[at + 1]]] not in LEVELS


def _labelled_code(blocks: Blocks, keep: Flags) -> set[int]:
    """The blocks directly before kept code that are short enough to be its label."""
    before = (blocks.starts[at] - 1 for at in elements_of(blocks, ("pre",)))
    return {
        at
        for at in before
        if at >= 0 and keep[at + 1] and len(blocks.texts[at]) <= LABEL_CHARACTERS
    }


def with_formulas(blocks: Blocks, keep: Flags) -> Flags:
    """The kept blocks and the displayed formulas between two of them."""
    formulas = list(compress(count(), map(str.startswith, blocks.texts, repeat("$$"))))
    if not formulas:
        return keep
    extended = keep.copy()
    for at in formulas:
        extended[at] |= extended[max(at - 1, 0)] and bool(keep[at + 1 : at + 2].any())
    return extended


def with_footnotes(blocks: Blocks, keep: Flags) -> Flags:
    """The kept blocks and the lists of footnotes that they refer to."""
    if "note" not in "\n".join(blocks.signature_names).lower():
        return keep
    named = {
        signature for signature, name in enumerate(blocks.signature_names) if FOOTNOTES.search(name)
    }
    lists = [
        at
        for at, signature in enumerate(blocks.signatures if named else ())
        if signature in named
        and blocks.starts[at] < blocks.ends[at]
        and not keep[blocks.starts[at] : blocks.ends[at]].all()
    ]
    if not lists:
        return keep
    kept_nodes = {node for at in np.flatnonzero(keep) for node in blocks.nodes[at]}
    referred = {
        (link.attr("href") or "")[1:]
        for link in blocks.elements[0].select("a[href^='#']")[:MAX_REFERENCES]
        if any(isinstance(node, Text) and node in kept_nodes for node in link.descendants)
    }
    extended = keep.copy()
    for at in lists:
        notes = [blocks.elements[at], *blocks.elements[at].select("[id]")]
        linked_back = blocks.elements[at].select_one(BACK_LINKS) is not None
        if linked_back and not referred.isdisjoint(note.attr("id") for note in notes):
            extended[blocks.starts[at] : blocks.ends[at]] = True
    return extended


def with_authors(blocks: Blocks, keep: Flags) -> Flags:
    """The kept blocks and the names of the authors above them, on pages that mark their posts.

    A name that is no heading is kept if that of another post is.
    """
    if not any(bits & POST_MARKS for bits in blocks.marked.values()):
        return keep
    names = blocks.elements[0].select(AUTHOR_NAMES)[:MAX_AUTHORS]
    if not names:
        return keep
    block_of = {node: at for at, nodes in enumerate(blocks.nodes) for node in nodes}
    found = {block_of[text] for name in names for text in name.descendants if text in block_of}
    named = sorted(at for at in found if len(blocks.texts[at]) <= AUTHOR_CHARACTERS)
    some_kept = any(keep[at] for at in named)
    extended = keep.copy()
    for at, following in zip(named, [*named[1:], len(keep)], strict=True):
        above = keep[at + 1 : min(following, at + 1 + AUTHOR_REACH)].any()
        if above and (some_kept or _is_in_heading(blocks, at)):
            extended[at] = True
    return extended


def _is_in_heading(blocks: Blocks, block: int) -> bool:
    return blocks.signature_tags[blocks.signatures[blocks.containers[block]]] in LEVELS


def with_tables_of_contents(blocks: Blocks, keep: Flags, *, article: bool = False) -> Flags:
    """The kept blocks and each distinct list whose entries match kept headings.

    One beside the text is added if the page is an article or its text is long, and if it links into this page. On other
    pages it is dropped.
    """
    in_heading = [False] * len(keep)
    kept = keep.tolist()
    headings: dict[str, list[int]] = {}
    for at in elements_of(blocks, LEVELS):
        for block in range(blocks.starts[at], blocks.ends[at]):
            in_heading[block] = True
            if kept[block]:
                headings.setdefault(_key(blocks.texts[block]), []).append(at)
    headings.pop("", None)
    if len(headings) < LEAST_ENTRIES:
        return keep
    extended = keep.copy()
    found: list[tuple[Span, frozenset[str]]] = []
    anywhere = article or sum(map(len, compress(blocks.texts, kept))) >= LONG_TEXT
    for at, entries in _tables_of_contents(blocks, headings.keys(), in_heading):
        span = blocks.starts[at], blocks.ends[at]
        listed = [heading for entry in entries for heading in headings[entry]]
        if _is_beside(blocks, at, listed) and not (anywhere and _links_into_page(blocks, at)):
            extended[slice(*span)] = False
        else:
            found.append((span, entries))
    _add_distinct(extended, found)
    _drop_folding_buttons(blocks, extended, keep, found)
    return extended


def _drop_folding_buttons(
    blocks: Blocks, extended: Flags, keep: Flags, found: list[tuple[Span, frozenset[str]]]
) -> None:
    """Drop the buttons in added tables of contents, except those that are entries."""
    listed = frozenset[str]().union(*(entries for _, entries in found))
    for at in elements_of(blocks, ("button",)) if found else ():
        inside = slice(blocks.starts[at], blocks.ends[at])
        if listed.isdisjoint(map(_key, blocks.texts[inside])):
            extended[inside] &= keep[inside]


def _add_distinct(keep: Flags, found: list[tuple[Span, frozenset[str]]]) -> None:
    """Keep the tables of contents whose entries are mostly in no other one that is kept."""
    covered = {entry for span, entries in found if keep[slice(*span)].all() for entry in entries}
    for span, entries in found:
        if len(entries - covered) >= NEW_SHARE * len(entries):
            keep[slice(*span)] = True
            covered |= entries


def _is_beside(blocks: Blocks, contents: int, headings: list[int]) -> bool:
    """Whether a table of contents is in a navigation or below the text, outside the element around its headings."""
    first = min(blocks.starts[at] for at in headings)
    last = max(blocks.ends[at] for at in headings)
    if not (blocks.starts[contents] >= last or _is_navigation(blocks, contents)):
        return False
    around = headings[0]
    while around and not (blocks.starts[around] <= first and last <= blocks.ends[around]):
        around = blocks.parents[around]
    return not (
        blocks.starts[around] <= blocks.starts[contents]
        and blocks.ends[contents] <= blocks.ends[around]
    )


def _links_into_page(blocks: Blocks, contents: int) -> bool:
    """Whether at least half of the links in a list have a fragment."""
    targets = [link.attr("href") or "" for link in blocks.elements[contents].select("a[href]")]
    return 2 * sum("#" in target for target in targets) >= len(targets)


def _is_navigation(blocks: Blocks, at: int) -> bool:
    """Whether an element is in a navigation or side part of the page."""
    while at:
        signature = blocks.signatures[at]
        chrome = blocks.marked.get(at, 0) & BITS["role-chrome"]
        if chrome or blocks.signature_tags[signature] in SIDE_TAGS:
            return True
        at = blocks.parents[at]
    return False


def elements_of(blocks: Blocks, tags: Container[str]) -> list[int]:
    """The elements with these tags, in document order."""
    found = [elements for tag, elements in blocks.by_tag.items() if tag in tags]
    return sorted(chain.from_iterable(found))


def _headings(blocks: Blocks) -> Iterator[tuple[Span, int]]:
    for at in elements_of(blocks, LEVELS):
        start, end = blocks.starts[at], blocks.ends[at]
        if start < end:
            yield (start, end), LEVELS[blocks.signature_tags[blocks.signatures[at]]]


def _tables_of_contents(
    blocks: Blocks, headings: Set[str], in_heading: list[bool]
) -> Iterator[tuple[int, frozenset[str]]]:
    """The outermost lists that are tables of contents, each with the headings it lists."""
    keys: dict[int, str] = {}
    longest = max(map(len, headings)) + EXTRA_CHARACTERS
    done = 0
    for at in sorted({blocks.parents[item] for item in elements_of(blocks, ("li",))}):
        start, end = blocks.starts[at], blocks.ends[at]
        if start < done or end - start < LEAST_ENTRIES:
            continue
        for block in range(start, end):
            if block not in keys:
                text = blocks.texts[block]
                keys[block] = _key(text) if len(text) <= longest else ""
        entries = [keys[block] for block in range(start, end) if keys[block] in headings]
        if len(entries) >= max(LEAST_ENTRIES, ENTRY_SHARE * (end - start)) and not any(
            in_heading[start:end]
        ):
            done = end
            yield at, frozenset(entries)


def _key(text: str) -> str:
    lower = text.lower()
    if lower.isascii():
        key = " ".join(lower.encode().translate(LETTERS_OR_SPACE).decode().split())
    else:
        key = NOT_A_WORD.sub(" ", lower).strip()
    number = ENTRY_NUMBER.match(key) if key[:1].isdigit() else None
    return key[number.end() :] if number else key
