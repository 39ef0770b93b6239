"""Accents that are drawn apart from their letters, as TeX does, are put on the letters at their place. Pure.

PDFium gives such an accent before its letter, after it, or at the end of the line, and takes it for a gap in the word.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final
from unicodedata import normalize

GONE: Final = "\uffff"
"""Stands where an accent was; it is no part of a word."""
COMBINING: Final = {
    "`": "\u0300",
    "´": "\u0301",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "¯": "\u0304",
    "ˉ": "\u0304",
    "˘": "\u0306",
    "˙": "\u0307",
    "¨": "\u0308",
    "˚": "\u030a",
    "˝": "\u030b",
    "ˇ": "\u030c",
    "¸": "\u0327",
    "˛": "\u0328",
}
DRAWN = re.compile(f"[{''.join(COMBINING)}]")
DOTLESS: Final = {"ı": "i", "ȷ": "j"}
MAX_ACCENTS: Final = 1_000
REACH: Final = 150
"""How many characters an accent may be away from its letter."""
RAISED: Final = 0.4
"""How much higher or lower than its letter an accent is drawn, at most, in heights of the letter."""

CharacterBox = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def with_accents(text: str, read_box: Callable[[int], CharacterBox]) -> str:
    """The text of a page, with each accent on the letter that it is drawn over, and `GONE` where it was.

    `read_box` gives the box of a character. An accent that stands alone stays.
    """
    accents = [found.start() for found in islice(DRAWN.finditer(text), MAX_ACCENTS)]
    if not accents:
        return text
    characters = list(text)
    boxes: dict[int, CharacterBox] = {}
    for accent in accents:
        box = read_box(accent)
        for index in _around(accent, len(text)):
            if not characters[index].isalpha():
                continue
            if index not in boxes:
                boxes[index] = read_box(index)
            if _is_over(box, boxes[index]):
                if letter := _accented(characters[index], characters[accent]):
                    characters[index], characters[accent] = letter, GONE
                break
    return "".join(characters)


def _around(index: int, end: int) -> Iterator[int]:
    """The indexes near this one, nearest first."""
    for distance in range(1, REACH + 1):
        if index + distance < end:
            yield index + distance
        if index >= distance:
            yield index - distance


def _is_over(accent: CharacterBox, letter: CharacterBox) -> bool:
    """Whether an accent is drawn at the place of a letter, and not beside it."""
    left, top, right, bottom = letter
    middle = (accent[0] + accent[2]) / 2
    return left < middle < right and abs(accent[3] - bottom) <= RAISED * (top - bottom)


def _accented(letter: str, accent: str) -> str:
    """The letter with the accent, if that is a character; else nothing."""
    found = normalize("NFC", DOTLESS.get(letter, letter) + COMBINING[accent])
    return found if len(found) == 1 else ""
