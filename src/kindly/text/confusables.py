"""Fold characters that look alike: `ｅｎԁ‐ｗеЬ` → `end-web`. For looking only; the folded text is never shown.

Letters, brackets, dashes and blanks become their ASCII form, accents and invisible characters are left out. What NFKD
does not fold is in the tables below: a selection of what UTS 39 calls confusables, for the letters that marks use, and
letters in squares and circles.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from kindly.frozen import frozen

LETTERS = {
    "a": "ɑαаᴀΑАᎪᗅꓮⱯɐ∀",
    "b": "ƄʙвьЬВΒᏏᏴᗷꓐƅɓᖯ",
    "c": "ᴄсСϲϹⅽᏟᑕꓚⲥⲤℂ",
    "d": "ԁᴅɗđÐĐᎠᗞꓓⅾժḍᑯ",
    "e": "еЕΕεɛєҽᴇℯℰ℮ᎬꓰƎǝ∃ⴹеℇ",
    "f": "ꜰƒϝϜꓝẝᖴ",
    "g": "ɡɢցԍԌᏀᏳꓖᶃǥ",
    "h": "һʜнНΗհᏂᎻꓧћⲎ",
    "i": "іІΙιıɩɪᎥӏꓲǀї",
    "k": "κкКΚᴋᏦꓗⲔĸ",
    "l": "ⅼʟᏞᒪꓡłŁɭ",
    "m": "мМΜᴍᎷᗰꓟⲘⅿ",
    "n": "пոռɴΝηᴎꓠⲚŋՈ",
    "o": "оОΟοσօᴏᎾⲟⲞꓳøØ०০ഠဝ௦൦๐໐०",
    "p": "рРΡρᴘᏢᑭꓑⲣⲢþ",
    "q": "ԛզգ",
    "r": "гᴦʀᎡᏒꓣꭇꭈⲅɾ",
    "s": "ѕЅꜱƽՏᏚꓢ",
    "t": "тТΤτᴛᎢꓔⲦŧŦ",
    "u": "սυᴜʋՍᑌꓴᴗ",
    "v": "νѵᴠѴᏙꓦⴸ∨",
    "w": "ԝԜѡѠшШщЩᴡωᎳᏔꓪɯѿ",
    "x": "хХΧχҳⅹ᙮ꓫⲬ",
    "y": "уУΥγүҮʏᎩꓬ",
    "z": "ᴢΖᏃꓜⲌ",
}
"""Letters that look like each ASCII letter, in either case, as small capitals too."""
LETTER_ROWS = (0x1F150, 0x1F170, 0x1F1E6)
"""Where Unicode has A to Z in dark circles, in dark squares, and as regional indicators."""
SIGNS = {
    "<": "≪⋘˂ᐸ‹«〈⟨《⟪❮❬❰⧼⦑⪡⋖⊰◀◁◂◃◄◅⏴〈«",
    ">": "≫⋙˃ᐳ›»〉⟩》⟫❯❭❱⧽⦒⪢⋗⊱▶▷▸▹►▻⏵〉",
    "-": "−⁃˗➖⎯─━┄┅┈┉═―➔ー一",
    "_": "ˍ▁",
    "/": "⁄∕╱⧸⟋",
    "\\": "∖⧵⟍╲",
    "|": "│┃∣ǁ║❘",
    "*": "∗⁎✱✲★☆",
    "·": "•∙⋅‧・･",
    "'": "‘’‚‛",
    '"': "“”„‟",
}
"""Signs that look like each ASCII sign; all small dots are one class."""
OF_CATEGORY = {
    "Ps": "[",
    "Pe": "]",
    "Pi": "<",
    "Pf": ">",
    "Pd": "-",
    "Pc": "_",
    "Zs": " ",
    "Zl": "\n",
    "Zp": "\n",
}
"""Other characters by general category: brackets, quotation marks, dashes, connectors, blanks."""
IGNORED_CATEGORIES = frozenset({"Mn", "Me", "Cf", "Cc", "Cs"})
IGNORED = "\0"
FOLDED_ASCII = {code: chr(code).lower() for code in range(0x80)}
ASCII = bytes(range(0x80))
FEW = 24
"""Up to so many different characters, replacing one after the other is faster than `str.translate`."""
LAST = 0x1FFFF
"""Beyond it there are only ideographs, tags and private characters."""


class _Table(dict[int, str]):
    """Folds of single characters, for `str.translate`; filled as they are needed."""

    def __missing__(self, code: int) -> str:
        if code > LAST:
            return IGNORED if 0xE0000 <= code <= 0xE0FFF else chr(code)
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    category = unicodedata.category(character)
    if category in IGNORED_CATEGORIES:
        return IGNORED
    if category in OF_CATEGORY:
        return OF_CATEGORY[category]
    base = "".join(
        each
        for each in unicodedata.normalize("NFKD", character)
        if unicodedata.category(each) != "Mn"
    )
    if len(base) != 1:
        return character
    return _SIMILAR.get(base) or (base.lower() if len(base.lower()) == 1 else base)


def _similar() -> dict[str, str]:
    found = {
        alike: plain for table in (LETTERS, SIGNS) for plain, row in table.items() for alike in row
    }
    for first in LETTER_ROWS:
        found |= {chr(first + n): chr(ord("a") + n) for n in range(26)}
    return found


_SIMILAR = _similar()
_TABLE = _Table(FOLDED_ASCII | {ord(alike): plain for alike, plain in _SIMILAR.items()})


@frozen
class Folded:
    """A folded text, and where its characters are in the original."""

    text: str
    shifts: Sequence[int] = ()
    """For each character that was left out, the position in `text` before which it stood."""

    def source(self, position: int) -> int:
        """The position in the original of a character of `text`."""
        return position + bisect_right(self.shifts, position)


def fold(text: str) -> Folded:
    """The text in lower case, with look-alike characters in their ASCII form."""
    if text.isascii():
        return Folded(text.lower())
    same_length = _few_replaced(text) or text.translate(_TABLE)
    if IGNORED not in same_length:
        return Folded(same_length)
    left_out = [found.start() for found in re.finditer(IGNORED, same_length)]
    shifts = [at - earlier for earlier, at in enumerate(left_out)]
    return Folded(same_length.replace(IGNORED, ""), shifts)


def _few_replaced(text: str) -> str:
    """The folded text, if it has few different characters beyond ASCII; empty if it has many, or rare ones."""
    encoded = text.encode("utf-8", "surrogatepass").translate(None, ASCII)
    others = set(encoded.decode("utf-8", "surrogatepass"))
    if len(others) > FEW:
        return ""
    for other in others:
        folded = _TABLE[ord(other)]
        if folded.isascii():
            text = text.replace(other, folded)
        elif not folded == other == other.lower():
            return ""
    return text.lower()
