"""Blocks, and which of them are kept → the headings that belong to kept text, and the page's own table of contents."""

import re
from collections.abc import Container, Iterator

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
"""How many entries of a table of contents must be headings that are kept."""
NEW_SHARE = 0.5
"""How many of them no other table of contents may have."""
NOT_A_WORD = re.compile(r"[\W_]+")
ONLY_WORDS = bytes(code if chr(code).isalnum() else ord(" ") for code in range(256))
"""Takes the same out of ASCII, and faster."""
COUNT = re.compile(r"(?:\d{1,3} )+(?=\S)")
"""At the beginning of a heading or an entry."""
COUNT_CHARACTERS = 30
"""By how much an entry may be longer than its heading, for its number and signs."""


def with_headings(blocks: Blocks, keep: Flags) -> Flags:
    """What is kept, and the headings that stand right above it."""
    levels = dict(_headings(blocks))
    introducing: dict[int, tuple[int, int]] = {}
    """For the first block of a heading how many there are down to the text, and its level."""
    whole = keep.copy()
    for (start, end), level in reversed(levels.items()):
        below = introducing.get(end)
        if below is not None:
            rank, level_below = below
            introduces = rank < HEADINGS_IN_A_ROW and level <= level_below
        else:
            rank, introduces = 0, end < len(keep) and bool(keep[end])
        if introduces:
            introducing[start] = (rank + 1, level)
            whole[start:end] = True
    return whole


def with_contents(blocks: Blocks, keep: Flags) -> Flags:
    """What is kept, and each list whose entries are the kept headings, once, without what folds its parts."""
    headed = np.zeros(len(keep), np.bool_)
    for (start, end), _ in _headings(blocks):
        headed[start:end] = True
    headings = {_key(blocks.texts[at]) for at in np.flatnonzero(headed & keep)} - {""}
    if len(headings) < LEAST_ENTRIES:
        return keep
    found = list(_contents(blocks, headings, headed))
    told = {entry for (start, end), entries in found if keep[start:end].all() for entry in entries}
    whole = keep.copy()
    for (start, end), entries in found:
        if len(entries - told) >= NEW_SHARE * len(entries):
            whole[start:end] = True
            told |= entries
    for at in elements_of(blocks, ("button",)) if found else ():
        span = slice(blocks.starts[at], blocks.ends[at])
        whole[span] = keep[span]
    return whole


def elements_of(blocks: Blocks, tags: Container[str]) -> list[int]:
    """The elements with these tags, in order."""
    wanted = np.array([tag in tags for tag in blocks.look_tags], np.bool_)
    found: list[int] = np.flatnonzero(wanted[np.array(blocks.looks)]).tolist()
    return found


def _headings(blocks: Blocks) -> Iterator[tuple[Span, int]]:
    for at in elements_of(blocks, LEVELS):
        start, end = blocks.starts[at], blocks.ends[at]
        if start < end:
            yield (start, end), LEVELS[blocks.look_tags[blocks.looks[at]]]


def _contents(
    blocks: Blocks, headings: set[str], headed: Flags
) -> Iterator[tuple[Span, frozenset[str]]]:
    """The outermost lists that are tables of contents, each with the headings it has."""
    keys: dict[int, str] = {}
    longest = max(map(len, headings)) + COUNT_CHARACTERS
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
            headed[start:end]
        ):
            done = end
            yield (start, end), frozenset(entries)


def _key(text: str) -> str:
    lower = text.lower()
    if lower.isascii():
        key = " ".join(lower.encode().translate(ONLY_WORDS).decode().split())
    else:
        key = NOT_A_WORD.sub(" ", lower).strip()
    counted = COUNT.match(key)
    return key[counted.end() :] if counted else key
