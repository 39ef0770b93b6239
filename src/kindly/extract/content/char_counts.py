"""Texts → how many characters of each kind are in them, for all texts at once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
SPACE, DIGIT, UPPER, STOP, COMMA, MONEY, SIGN, WIDE = (1 << bit for bit in range(8))
TABLE_SIZE = 0x10000
CHARACTERS = (
    (".!?…。！？", STOP),
    (",;:，、；：", COMMA),
    ("$€£¥₹₽₩", MONEY),
    ("|·•»›/←→+&#©®™*=<>{}[]()@", SIGN),
)


@dataclass(frozen=True, slots=True)
class Counts:
    """For each text how much it has of what."""

    characters: Floats
    words: Floats
    """At least one."""
    kinds: Floats
    """Digits, capitals, commas, money signs and other signs."""
    sentences: Floats
    edges: Floats
    """Whether it ends a sentence, ends with a comma or colon, begins with a capital."""


@lru_cache(maxsize=1)
def _classes() -> NDArray[np.uint8]:
    """For every character what it is, as bits."""
    table = np.zeros(TABLE_SIZE, np.uint8)
    for code in range(0x3001):
        character = chr(code)
        table[code] = (
            character.isspace() * SPACE | character.isdigit() * DIGIT | character.isupper() * UPPER
        )
    for characters, bit in CHARACTERS:
        for character in characters:
            table[ord(character)] |= bit
    table[0x3040:0xA000] |= WIDE
    table[0xAC00:0xD7A4] |= WIDE
    return table


def count_characters(texts: list[str]) -> Counts:
    """The counts of texts, none of which is empty."""
    joined = "\n".join(texts) + "\n"
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    classes = _classes().take(codes, mode="clip")
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    starts = np.concatenate(([0], ends[:-1]))
    space = (classes & SPACE).astype(np.bool_)
    words = (~space[:-1] & space[1:]) | (classes[:-1] >= WIDE)
    stops = (classes[:-1] & STOP).astype(np.bool_) & (space[1:] | (codes[:-1] > TABLE_SIZE // 8))
    kinds = [
        np.add.reduceat((classes & bit).astype(np.bool_), starts, dtype=np.float32)
        for bit in (DIGIT, UPPER, COMMA, MONEY, SIGN)
    ]
    last, first = classes[ends - 2], classes[starts]
    edges = [(last & STOP) > 0, (last & COMMA) > 0, (first & UPPER) > 0]
    return Counts(
        (ends - starts - 1).astype(np.float32),
        np.maximum(np.add.reduceat(words, starts, dtype=np.float32), 1),
        np.stack(kinds, axis=1),
        np.add.reduceat(stops, starts, dtype=np.float32),
        np.stack(edges, axis=1).astype(np.float32),
    )
