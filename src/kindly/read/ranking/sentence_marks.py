"""What a sentence has that may answer a question, and what a question asks for: numbers, dates, names, reasons.

A sentence's marks are the union of its words' marks, so that each distinct word is looked at once. The words are
English; figures, capitals and symbols are the same in many languages.
"""

import re
from enum import IntEnum, IntFlag
from functools import lru_cache


class SentenceMark(IntFlag):
    """What a sentence has."""

    NUMBER = 1
    YEAR = 2
    DATE = 4
    """The name of a month or day, or a word such as "century"."""
    AMOUNT = 8
    """A percentage, an amount of money, or a unit."""
    NUMBER_WORD = 16
    CAUSE = 32
    DEFINITION = 64
    """A form of "to be", or a word such as "means" or "called"."""
    PRONOUN = 128
    """It begins with a word that refers to the sentence before."""
    REFERENCE = 256
    """It looks like an entry of a list of references."""
    DUTY = 512
    """"Shall", "must", "may" and the like."""
    PERSON = 1024
    """"We", "you" and the like."""
    LINK = 2048
    PURPOSE = 4096
    """"By", "using", "to": ways and purposes."""
    NOTICE = 8192
    """Words of cookie banners, sign-up forms and navigation."""
    PLACE = 16384


class Asks(IntEnum):
    """What a question asks for."""

    OTHER = 0
    PERSON = 1
    TIME = 2
    PLACE = 3
    AMOUNT = 4
    REASON = 5
    MANNER = 6
    DEFINITION = 7
    DECISION = 8
    """Yes or no."""
    CHOICE = 9
    """Which."""


EXPECTED: dict[Asks, SentenceMark] = {
    Asks.TIME: SentenceMark.YEAR | SentenceMark.DATE,
    Asks.AMOUNT: SentenceMark.NUMBER | SentenceMark.NUMBER_WORD | SentenceMark.AMOUNT,
    Asks.REASON: SentenceMark.CAUSE,
    Asks.MANNER: SentenceMark.PURPOSE,
    Asks.DEFINITION: SentenceMark.DEFINITION,
    Asks.PLACE: SentenceMark.PLACE,
}
"""What a sentence that answers often has."""

_WORDS = {
    SentenceMark.DATE: (
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday "
        "friday saturday sunday century centuries decade decades year years month months day days "
        "week weeks hour hours until since during"
    ),
    SentenceMark.AMOUNT: (
        "percent percentage per million billion thousand hundred dollars euros usd eur km mi kg "
        "mg ml miles meters metres feet inches acres degrees half quarter third thirds majority "
        "average total"
    ),
    SentenceMark.NUMBER_WORD: (
        "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
        "first second several dozen few many none zero once twice"
    ),
    SentenceMark.CAUSE: (
        "because due cause caused causes causing therefore thus reason reasons hence result "
        "resulted results led leads leading consequently owing so since"
    ),
    SentenceMark.DEFINITION: (
        "is are was were means mean refers referred called known named defined termed includes "
        "include consists consist"
    ),
    SentenceMark.DUTY: (
        "shall must may should required prohibited entitled obligated will cannot terminate "
        "agreement"
    ),
    SentenceMark.PERSON: ("we our us you your my i"),
    SentenceMark.PURPOSE: (
        "by using use used through via order help helps allow allows enable enables"
    ),
    SentenceMark.NOTICE: (
        "cookies cookie subscribe newsletter login signup copyright menu navigation skip "
        "advertisement retrieved archived isbn doi pmid"
    ),
    SentenceMark.PLACE: (
        "in at near located north south east west between city country state region"
    ),
}
_OF_WORD: dict[str, SentenceMark] = {}
for _mark, _words in _WORDS.items():
    for _word in _words.split():
        _OF_WORD[_word] = _OF_WORD.get(_word, SentenceMark(0)) | _mark
_PRONOUNS = frozenset(
    {
        *("he", "she", "it", "they", "this", "these", "those", "that", "such", "his", "her", "its"),
        *("their", "him", "them", "there", "both", "each", "however", "also", "then"),
    }
)
_YEAR = re.compile(r"(?:1\d|20)\d\d(?:s|$)")
_REFERENCE = re.compile(
    r"^\W{0,3}\[?\d{1,3}[\].)]\s+[A-Z]|\bet al\b|\bdoi\b|\bpp?\. ?\d|\bVol\. ?\d|\bISBN\b|\(\d{4}\)\.|^\^|↑"
)
_AMOUNT_SIGN = re.compile("[%$€£¥₹]")

_EXTREME = re.compile(
    r"\b(?:most|least|fewest|first|last|final|top|best|worst|more|less|fewer|total|"
    r"(?:high|low|large|small|long|short|old|young|new|bigg|great|fast|slow|earli|late|tall|deep|wid|heavi|clos|near)"
    r"(?:er|r|est|st))\b"
)

_TYPES: tuple[tuple[Asks, re.Pattern[str]], ...] = tuple(
    (asks, re.compile(pattern))
    for asks, pattern in (
        (
            Asks.PERSON,
            r"\b(?:who|whom|whose|which (?:person|man|woman|player|actor|king|president))\b",
        ),
        (
            Asks.TIME,
            r"\bwhen\b|\b(?:what|which|in what|in which) (?:\w+ )?(?:year|date|day|month|time|century|decade|period)\b",
        ),
        (
            Asks.PLACE,
            r"\bwhere\b|\b(?:what|which) (?:\w+ )?(?:country|city|state|place|town|region|location|continent|area)\b",
        ),
        (
            Asks.AMOUNT,
            r"\bhow (?:many|much|long|old|far|often|large|big|tall|high|fast|deep)\b|\b(?:what|which) (?:\w+ )?"
            r"(?:percentage|percent|number|amount|size|rate|length|weight|cost|price|temperature|proportion)\b",
        ),
        (Asks.REASON, r"\bwhy\b|\breasons?\b|\bcauses?\b|\bcaused\b"),
        (Asks.MANNER, r"\bhow\b"),
        (
            Asks.DEFINITION,
            r"^what(?:'s| is| are| was| were) (?:an? |the )?\w+(?: \w+)?\W*$|\bdefin|\bmeaning\b",
        ),
        (
            Asks.DECISION,
            r"^(?:do|does|did|is|are|was|were|can|could|may|will|would|has|have|should)\b",
        ),
        (Asks.CHOICE, r"\bwhich\b"),
    )
)


def asks_for(question: str) -> Asks:
    """What a question asks for; OTHER if it does not say, or is not in English."""
    lower = question.strip().lower()
    return next((asks for asks, pattern in _TYPES if pattern.search(lower)), Asks.OTHER)


def asks_for_extreme(question: str) -> bool:
    """Whether a question asks for what is first, last, most or least, or compares."""
    return _EXTREME.search(question.lower()) is not None


def sentence_marks(text: str, words: list[str]) -> tuple[int, int, int]:
    """The marks of a sentence, and how many of its words begin with a capital (after the first) and with a digit."""
    found = capitals = numbers = 0
    for marks, capital, number in map(_word_marks, words):
        found |= marks
        capitals += capital
        numbers += number
    if words:
        capitals -= words[0][:1].isupper()
        if words[0].lower() in _PRONOUNS:
            found |= SentenceMark.PRONOUN
    if not text.isascii() or "%" in text or "$" in text:
        found |= SentenceMark.AMOUNT if _AMOUNT_SIGN.search(text) else 0
    if "](" in text or "://" in text:
        found |= SentenceMark.LINK
    if numbers and _REFERENCE.search(text):
        found |= SentenceMark.REFERENCE
    return int(found), capitals, numbers


@lru_cache(maxsize=20_000)
def _word_marks(word: str) -> tuple[int, bool, bool]:
    number = word[0].isdigit()
    found = int(_OF_WORD.get(word.lower(), 0))
    if number:
        found |= SentenceMark.NUMBER
        if _YEAR.match(word):
            found |= SentenceMark.YEAR
    return found, word[0].isupper(), number
