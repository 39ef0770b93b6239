"""Tokenizer and stemmer: text → terms, which BM25 counts and the stores index.

One rule for every language, because a page rarely states its language: English endings are removed lightly and words
are cut to their first letters, in place of a stemmer per language. Scripts without spaces become pairs of characters,
Thai and related scripts threes. The lengths are those that measured best (docs/reading.md).
"""

import re
import unicodedata
from functools import lru_cache
from itertools import chain

LATIN_LETTERS = 6
OTHER_LETTERS = 5
MAX_WORD = 64

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f"
    "\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b4d\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d\u0c81-\u0c83\u0cbc-\u0ccd\u0d00-\u0d03"
    "\u0d3e-\u0d4d\u0dca-\u0ddf\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e"
    "\u17b6-\u17d3\u200c\u200d\u3099\u309a"
)
"""Accents, points, vowel signs and joiners, which are parts of words but not letters to `re`."""
_LETTER = rf"[^\W_{_MARKS}]|[{_MARKS}]"
_TOKEN = re.compile(
    rf"[^\W_](?:{_LETTER})*(?:_+(?:{_LETTER})+|\.[^\W\d_](?:{_LETTER})*|(?<=\d)[.,]\d(?:{_LETTER})*)*"
)
_PLAIN_TOKEN = re.compile(
    r"[A-Za-z0-9]+(?:(?:_+[A-Za-z0-9]|\.[A-Za-z]|(?<=[0-9])[.,][0-9])[A-Za-z0-9]*)*"
)
"""The same for ASCII, several times faster."""
_PART = re.compile(rf"(?:{_LETTER})+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u200c\u200d]"
)
"""Marks that searchers leave out."""
_EQUIVALENT = str.maketrans(
    {
        "\u03c2": "\u03c3",  # final sigma
        "\u0622": "\u0627",  # forms of alef
        "\u0623": "\u0627",
        "\u0625": "\u0627",
        "\u0649": "\u064a",  # alef maqsura
        "\u0629": "\u0647",  # ta marbuta
        "\u0131": "i",
        "\u0111": "d",
        "\u0142": "l",
        "\u00f8": "o",
        "\u00df": "ss",
        "\u00e6": "ae",
        "\u0153": "oe",
    }
)
_UNSPACED = re.compile(
    "(?P<thai>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
    "|[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_ARABIC_START = re.compile(
    "^\u0648?(?:\u0627\u0644|\u0628\u0627\u0644|\u0643\u0627\u0644|\u0641\u0627\u0644|\u0644\u0644)(?=...)|^\u0648(?=....)"
)
"""The article, alone or after "and", "with", "like", "so", "for"; and "and" itself."""
_ARABIC_END = re.compile(
    "(?<=...)(?:\u0647\u0627|\u0627\u0646|\u0627\u062a|\u0648\u0646|\u064a\u0646|\u064a\u0647|\u0647|\u064a)$"
)


def terms(text: str) -> list[str]:
    """The terms of a text in order; names such as `read_page`, `readPage` or `os.path` whole and in parts."""
    return _text_terms(text, LATIN_LETTERS)


def whole_terms(text: str) -> list[str]:
    """As many terms in the same order, of which those in ASCII are not cut to their first letters."""
    return _text_terms(text, MAX_WORD)


def tokens(text: str) -> list[str]:
    """The words between spaces and punctuation, unchanged."""
    return (_PLAIN_TOKEN if text.isascii() else _TOKEN).findall(text)


def runs_together(term: str) -> bool:
    """Whether a term is in a script without spaces between words."""
    return _UNSPACED.match(term) is not None


@lru_cache(maxsize=30_000)
def term_words(token: str) -> tuple[tuple[str, str], ...]:
    """The terms of a token, each with its word in lower case."""
    found = _terms_of(token, LATIN_LETTERS)
    if len(found) == 1:
        return ((found[0], token.lower()),)
    return tuple((term, term) for term in found)


def _text_terms(text: str, letters: int) -> list[str]:
    return [
        term
        for piece in text.split()
        for term in (
            _known_terms(piece, letters) if len(piece) <= MAX_WORD else _piece_terms(piece, letters)
        )
    ]


def _piece_terms(piece: str, letters: int) -> tuple[str, ...]:
    """The terms of the text between two spaces; no token spans a space."""
    return tuple(chain.from_iterable(_terms_of(token, letters) for token in tokens(piece)))


_known_terms = lru_cache(maxsize=20_000)(_piece_terms)


@lru_cache(maxsize=20_000)
def _terms_of(token: str, letters: int) -> tuple[str, ...]:
    parts = _PART.findall(token[: 4 * MAX_WORD])
    found = [term for part in parts for term in _part_terms(part, letters)]
    if len(parts) > 1 and (whole := _fold("".join(parts))[:MAX_WORD]):
        found.append(whole)
    return tuple(found)


def _part_terms(part: str, letters: int) -> list[str]:
    if _CAMEL.search(part):
        humps = [hump for hump in _HUMP.findall(part) if len(hump) > 1]
        if len(humps) > 1:
            return [*(_stem(_fold(hump), letters) for hump in humps), _fold(part)[:MAX_WORD]]
    folded = _fold(part)
    if folded.isascii():
        return [_stem(folded, letters)] if folded else []
    return _scripts(folded, letters)


def _scripts(folded: str, letters: int) -> list[str]:
    found: list[str] = []
    left = 0
    for run in _UNSPACED.finditer(folded):
        if run.start() > left:
            found.append(_stem(folded[left : run.start()], letters))
        left = run.end()
        width = 3 if run["thai"] else 2
        text = run[0]
        found += [text[i : i + width] for i in range(max(1, len(text) - width + 1))]
    if left < len(folded):
        found.append(_stem(folded[left:], letters))
    return found


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    bare = _DROPPED.sub("", unicodedata.normalize("NFKD", word.lower()))
    return unicodedata.normalize("NFC", "".join(filter(_is_word, bare.lower()))).translate(
        _EQUIVALENT
    )


def _is_word(character: str) -> bool:
    return _PART.match(character) is not None


def _stem(word: str, letters: int) -> str:
    if word[0].isdigit():
        return word[:MAX_WORD]
    if word.isascii():
        return _cut_ending(word)[:letters]
    if "\u0600" <= word[0] <= "\u06ff":
        word = _ARABIC_END.sub("", _ARABIC_START.sub("", word))
    return word[:OTHER_LETTERS]


def _cut_ending(word: str) -> str:
    """An English word without plural, -ed, -ing, -ly and final e; y becomes i."""
    word = _singular(word)
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and not set("aeiouy").isdisjoint(base):
            doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if doubled else base
            break
    if word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and word[-3] in "sxzho":
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and word[-2] not in "us":
        return word[:-1]
    return word
