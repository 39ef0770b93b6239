"""Text → terms for comparing two short texts, in any script: case folding, no accents, light stemming, bigrams. Pure.

`kindly.text.terms` serves BM25 and the stores; its terms are part of stored data and tuned on other measurements, so
the two are separate on purpose.
"""

import re
import unicodedata

WORD = re.compile(r"\w+")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0002fa1f]+"
)
"""Runs of Thai, Lao, Burmese, Khmer, kana and Han, which are written without spaces between words."""

ENDINGS = ("ization", "isation", "ations", "ation", "ingly", "ments", "ment", "ness")
SHORT_ENDINGS = ("ing", "ies", "ers", "ed", "er", "es", "ly", "s", "y", "e")
MIN_STEM = 4
"""Letters that must remain."""

STOP_WORDS = frozenset(
    WORD.findall(
        "a about an and are as at be been between but by can could did do does for from had has have how i if in into "
        "is it its me my not of on or our should so than that the their them then there these they this to up versus "
        "vs was we were what when where which who whom whose why will with without would you your "
        "der die das ein eine und oder mit von wie ist im auf fur le la les un une des et ou de du en dans pour avec "
        "que est el los las una y o con por para como es il lo gli di da che per och att som det"
    )
)
"""Stop words of a few languages, in their plain form."""


def plain(text: str) -> str:
    """The text in lower case, without accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", bare)


def words(text: str) -> list[str]:
    """The words of a text in order, in plain form."""
    return WORD.findall(plain(text))


def stem(word: str) -> str:
    """The word without a common English ending, if enough of it remains."""
    for ending in (*ENDINGS, *SHORT_ENDINGS):
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            return word[: -len(ending)]
    return word


def terms(text: str) -> frozenset[str]:
    """The stems of a text's words without stop words, and character bigrams of unspaced scripts."""
    found: set[str] = set()
    for word in words(text):
        if word in STOP_WORDS:
            continue
        runs = UNSPACED.findall(word)
        for run in runs:
            found |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
        found |= {stem(part) for part in UNSPACED.split(word) if part} if runs else {stem(word)}
    return frozenset(found)
