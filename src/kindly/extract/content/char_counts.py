"""Character counts of texts by class (digits, capitals, punctuation, …), vectorised over all texts of a page."""

from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kindly.frozen import frozen

Floats = NDArray[np.float32]

SPACE, DIGIT, UPPER, STOP, COMMA, MONEY, SYMBOL, WIDE = (1 << bit for bit in range(8))
"""Character classes, as bits. `WIDE` characters are words of their own (Chinese, Japanese, Korean)."""
TABLE_SIZE = 0x10000
CLASS_MEMBERS = (
    (".!?…。！？", STOP),
    (",;:，、；：", COMMA),
    ("$€£¥₹₽₩", MONEY),
    ("|·•»›/←→+&#©®™*=<>{}[]()@", SYMBOL),
)


class Count(IntEnum):
    """The columns of `CharCounts.by_class`."""

    DIGITS = 0
    CAPITALS = 1
    COMMAS = 2
    MONEY = 3
    SYMBOLS = 4


COUNTED_CLASSES = {
    Count.DIGITS: DIGIT,
    Count.CAPITALS: UPPER,
    Count.COMMAS: COMMA,
    Count.MONEY: MONEY,
    Count.SYMBOLS: SYMBOL,
}


@frozen
class CharCounts:
    """Counts with one row per text."""

    characters: Floats
    words: Floats
    """At least one."""
    by_class: Floats
    """Characters of each class, in the columns of `Count`."""
    sentences: Floats
    edges: Floats
    """Flags: ends a sentence, ends with a comma or colon, starts with a capital."""


@lru_cache(maxsize=1)
def _class_table() -> NDArray[np.uint8]:
    """The class bits of every character, by code point."""
    table = np.zeros(TABLE_SIZE, np.uint8)
    for code in range(0x3001):
        character = chr(code)
        table[code] = (
            character.isspace() * SPACE | character.isdigit() * DIGIT | character.isupper() * UPPER
        )
    for characters, bit in CLASS_MEMBERS:
        for character in characters:
            table[ord(character)] |= bit
    table[0x3040:0xA000] |= WIDE
    table[0xAC00:0xD7A4] |= WIDE
    return table


def count_characters(texts: list[str]) -> CharCounts:
    """The counts of non-empty texts."""
    joined = "\n".join(texts) + "\n"
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    classes = _class_table().take(codes, mode="clip")
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    starts = np.concatenate(([0], ends[:-1]))
    space = (classes & SPACE).astype(np.bool_)
    words = (~space[:-1] & space[1:]) | (classes[:-1] >= WIDE)
    stops = (classes[:-1] & STOP).astype(np.bool_) & (space[1:] | (codes[:-1] > TABLE_SIZE // 8))
    by_class = [
        np.add.reduceat((classes & bit).astype(np.bool_), starts, dtype=np.float32)
        for bit in COUNTED_CLASSES.values()
    ]
    last, first = classes[ends - 2], classes[starts]
    edges = [(last & STOP) > 0, (last & COMMA) > 0, (first & UPPER) > 0]
    return CharCounts(
        characters=(ends - starts - 1).astype(np.float32),
        words=np.maximum(np.add.reduceat(words, starts, dtype=np.float32), 1),
        by_class=np.stack(by_class, axis=1),
        sentences=np.add.reduceat(stops, starts, dtype=np.float32),
        edges=np.stack(edges, axis=1).astype(np.float32),
    )
