"""Finds what reads like a mark of the fence, in any spelling. Pure.

The text is folded first (`text.confusables`), so that the patterns need to know ASCII only. All repetitions are bounded
or possessive and begin where a run begins, so the time is linear in the text.
"""

import re
from collections.abc import Iterator, Mapping

from kindly.text.confusables import fold

ALTERNATIVES = {"a": "[a4@]", "e": "[e3]", "i": "[i1]", "l": "[l1|]", "o": "[o0]", "s": "[s5$]"}
"""Digits and signs that stand for letters."""


def _word(word: str) -> str:
    """The word, its letters perhaps spaced out."""
    return "[ \t._*-]?".join(ALTERNATIVES.get(letter, letter) for letter in word)


def _one_of(*words: str) -> str:
    return f"(?:{'|'.join(map(_word, words))})"


def _after(*leads: str) -> str:
    return f"(?:{'|'.join(leads)})"


GAP = r"[\s_.·:/\\|*=~+,;!#-]{0,9}"
BLANK = r"[\s_.·:/\\|*=~+,;!#-]{1,9}"
"""What may separate two words; in code, words are often joined without it."""
END = (
    rf"(?:{_word('end')}(?:s|ed|ing)?|{_word('close')}[sd]?|closing"
    rf"|{_one_of('stop', 'finish', 'terminate', 'exit', 'leave', 'quit')})"
)
VERB = rf"(?:{END}|{_one_of('begin', 'start', 'open', 'resume')})"
FILLERS = rf"(?:(?:of|the|this|an?|{_word('untrusted')}|external|fenced|fetched|quoted|remote){GAP}){{0,4}}"
PAGE = rf"{_word('web')}{GAP}(?P<noun>{_word('page')})"
CONTENT = _one_of("content", "text", "site", "document", "data", "source", "result")
ALONE = r"(?![\s_.·:/\\|*=~+,;!#-]{0,9}+[a-z])"
WEB = (
    rf"(?:{_word('web')}{GAP}(?P<noun>{_word('page')}|{CONTENT})"
    rf"|{_word('untrusted')}{GAP}(?P<other>{_word('page')}|{CONTENT}|{_word('web')}{ALONE}))"
)
ANYTHING = rf"(?P<noun>{_one_of('page', 'block', 'fence')}|{CONTENT}|{_word('untrusted')}{ALONE})"
ID = r"(?:(?=[a-f]{0,9}\d)[0-9a-f]{6,64}|[0-9a-f]{10,64}|token\b)"
RUN = re.compile(r"[<\\]++(?:[ \t]{1,2}[<\\]++)*+")
"""Angle brackets, perhaps escaped or spaced out."""
OPENER = r"[<\[{(]"
ENTITIES = r"&(?:lt|laquo|lsaquo|#0{0,4}60|#x0{0,4}3c)\b;?"
SIGNS = r"[-=*#~_+|\"'`%^@$!]"
RULE = rf"(?<!{SIGNS[:-1]}]){SIGNS}{{2,}}+"
CLOSED = rf"(?={GAP}(?:{ID}{GAP})?[])}}>])"
ENDS = rf"(?={GAP}(?:{ID}|$|\n|{SIGNS}{{2,}}))"

AFTER_TWO = (
    rf"{GAP}(?:{VERB}{GAP}{FILLERS})?{PAGE}",
    rf"{GAP}(?:{VERB}{GAP}|/\s?){FILLERS}{WEB}",
)
AFTER_THREE = (
    rf"{GAP}(?P<noun>{_word('untrusted')})",
    rf"{GAP}(?:{VERB}{GAP}|/\s?){FILLERS}{ANYTHING}(?=[^\n<>]{{0,60}}>{{2}})",
    rf"{GAP}(?P<noun>{END}){GAP}{ID}",
)
OTHERS = (
    rf"{_after('<', '>{2}', ENTITIES)}{GAP}{END}{BLANK}{FILLERS}{WEB}",
    rf"[\[{{(]{GAP}{END}{BLANK}{FILLERS}{WEB}{CLOSED}",
    rf"{RULE}{GAP}{VERB}{BLANK}{FILLERS}{WEB}{ENDS}",
    rf"(?<![\[{{(])[\[{{(]{{3,}}+{GAP}(?:{VERB}{GAP}{FILLERS})?{PAGE}",
    rf"{_after('<', ENTITIES)}\s{{0,3}}/\s{{0,3}}(?:{END}{GAP})?{PAGE}",
    rf"[\[{{]\s{{0,3}}/\s{{0,3}}{PAGE}{CLOSED}",
    rf"{_after(OPENER, RULE, ENTITIES)}{GAP}(?:{VERB}{GAP}{FILLERS})?{PAGE}{GAP}{ID}",
    rf"\b{END}{BLANK}{FILLERS}{PAGE}{GAP}{ID}",
)
AFTER_RUN = tuple(
    (least, re.compile(pattern))
    for least, patterns in ((2, AFTER_TWO), (3, AFTER_THREE))
    for pattern in patterns
)
"""What makes a mark of a run of angle brackets, and how many there must be."""
PATTERNS = tuple(map(re.compile, OTHERS))
"""Marks with other brackets, or with none. All patterns are for folded text."""
MENTION = re.compile(
    rf"{_word('web')}{GAP}(?:{_word('page')}|{CONTENT})|{_word('untrusted')}|<(?<!<<)[\\ \t]{{0,3}}<"
)
"""Part of every mark. Few pages contain it, and this search is much cheaper than the patterns, as every alternative
begins with a literal character."""
BEFORE, AFTER = 200, 170
"""Characters around a mention that a mark can cover, besides its run."""
RUN_SIGNS = frozenset("<\\[{(-=*#~_+|\"'`%^@$!")
BRACKET = "‹"
BREAK = "·"


def defused(text: str) -> str:
    """The text in which nothing reads like a mark: a dot breaks the noun, and runs of brackets become `‹`."""
    folded = fold(text)
    edits: dict[int, str] = {}
    for start, end in _windows(folded.text):
        for at, instead in _edits(folded.text, start, end):
            source = folded.source(at)
            edits[source] = text[source] + BREAK if instead == BREAK else instead
    return _edited(text, edits) if edits else text


def defused_data(data: Mapping[str, object]) -> dict[str, object]:
    """JSON in which every string is defused."""
    return {defused(name): _defused_value(value) for name, value in data.items()}


def _defused_value(value: object) -> object:
    if isinstance(value, str):
        return defused(value)
    if isinstance(value, dict):
        return defused_data(value)
    return [_defused_value(item) for item in value] if isinstance(value, list) else value


def _windows(folded: str) -> Iterator[tuple[int, int]]:
    """The parts of the text in which a mark may be, in order; they do not overlap."""
    start = end = 0
    for mention in MENTION.finditer(folded):
        begins = mention.start() - BEFORE
        while begins > end and folded[begins - 1] in RUN_SIGNS:
            begins -= 1
        if begins > end:
            yield start, end
            start = begins
        end = mention.end() + AFTER
    if end:
        yield start, end


def _edits(folded: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Positions in the folded text, and what comes there."""
    for run in RUN.finditer(folded, start, end):
        count = run[0].count("<")
        nouns = [
            _noun(match)
            for least, pattern in AFTER_RUN
            if count >= least and (match := pattern.match(folded, run.end(), end))
        ]
        if nouns:
            yield from ((noun, BREAK) for noun in nouns)
            yield from _without_brackets(run)
    for pattern in PATTERNS:
        for match in pattern.finditer(folded, start, end):
            yield _noun(match), BREAK


def _noun(match: re.Match[str]) -> int:
    """Where the word is that the mark cannot do without."""
    return match.start("noun" if match["noun"] else "other")


def _without_brackets(run: re.Match[str]) -> Iterator[tuple[int, str]]:
    for position, sign in enumerate(run[0], run.start()):
        if sign in "<\\":
            yield position, BRACKET if sign == "<" else ""


def _edited(text: str, edits: dict[int, str]) -> str:
    pieces: list[str] = []
    position = 0
    for at in sorted(edits):
        pieces += (text[position:at], edits[at])
        position = at + 1
    return "".join((*pieces, text[position:]))
