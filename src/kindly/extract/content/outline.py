"""Outline of a page: add to the selected blocks their headings and the page's own tables of contents."""

import re
from collections.abc import Container, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.blocks import Blocks

Flags = NDArray[np.bool_]
Span = tuple[int, int]
"""The first block and one past the last."""

LEVELS = {f"h{level}": level for level in range(1, 7)}
HEADINGS_IN_A_ROW = 2
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
EXTRA_CHARACTERS = 30
"""How much longer an entry may be than its heading, for its number and symbols."""


def with_headings(blocks: Blocks, keep: Flags) -> Flags:
    """The kept blocks and the headings directly above them."""
    levels = dict(_headings(blocks))
    kept_headings: dict[int, tuple[int, int]] = {}
    """First block of a heading → how many headings lead from it down to the text, and its level."""
    extended = keep.copy()
    for (start, end), level in reversed(levels.items()):
        below = kept_headings.get(end)
        if below is not None:
            rank, level_below = below
            introduces = rank < HEADINGS_IN_A_ROW and level <= level_below
        else:
            rank, introduces = 0, end < len(keep) and bool(keep[end])
        if introduces:
            kept_headings[start] = (rank + 1, level)
            extended[start:end] = True
    return extended


def with_tables_of_contents(blocks: Blocks, keep: Flags) -> Flags:
    """The kept blocks and each distinct list whose entries match kept headings, without the buttons in it."""
    in_heading = np.zeros(len(keep), np.bool_)
    for (start, end), _ in _headings(blocks):
        in_heading[start:end] = True
    headings = {_key(blocks.texts[at]) for at in np.flatnonzero(in_heading & keep)} - {""}
    if len(headings) < LEAST_ENTRIES:
        return keep
    found = list(_tables_of_contents(blocks, headings, in_heading))
    covered = {
        entry for (start, end), entries in found if keep[start:end].all() for entry in entries
    }
    extended = keep.copy()
    for (start, end), entries in found:
        if len(entries - covered) >= NEW_SHARE * len(entries):
            extended[start:end] = True
            covered |= entries
    for at in elements_of(blocks, ("button",)) if found else ():
        span = slice(blocks.starts[at], blocks.ends[at])
        extended[span] = keep[span]
    return extended


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
    blocks: Blocks, headings: set[str], in_heading: Flags
) -> Iterator[tuple[Span, frozenset[str]]]:
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
            yield (start, end), frozenset(entries)


def _key(text: str) -> str:
    lower = text.lower()
    if lower.isascii():
        key = " ".join(lower.encode().translate(LETTERS_OR_SPACE).decode().split())
    else:
        key = NOT_A_WORD.sub(" ", lower).strip()
    number = ENTRY_NUMBER.match(key)
    return key[number.end() :] if number else key
