"""CSS declarations as a page writes them, in small letters → the same in plain words.

Comments, escapes, sums of one number, logical sides and variables are ways to write a declaration that means something
simpler; a value that no browser knows is none. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?|\\([^\n])")
SUM = re.compile(r"calc\(\s*(-?(?:\d+(?:\.\d*)?|\.\d+)(?:[a-z]+|%)?)\s*\)")
SMALL = re.compile(r"[\d.]e-?\d")
EXPONENT = re.compile(r"(?<![\w.#-])(?:\d+(?:\.\d*)?|\.\d+)e-?\d{1,2}(?!\w)")
VARIABLE = re.compile(r"var\(\s*(--[\w-]{1,100})\s*(?:,([^()]*))?\)")
DEFINITION = re.compile(r"(?<![\w-])(--[\w-]{1,100})\s*:\s*([^;{}!]*)")
DECIDING = re.compile(
    r"(?<![\w-])(?:display|visibility|content-visibility|opacity|font-size|position|height|width|zoom)\s*:\s*"
    + VARIABLE.pattern
)
"""Where a variable decides alone; a colour by variable is a theme's more often than not."""
MAX_BODY = 10_000
MAX_VALUE = 200
"""Longer texts and values are left as they are: variables of variables grow fast."""
MAX_ROUNDS = 3
"""How often variables are put in for variables."""

LOGICAL = {
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "inline-size": "width",
    "block-size": "height",
}
SIDES = re.compile("|".join(LOGICAL))

WORDS = {
    "display": re.compile(
        r"(?:none|block|inline|contents|flow|flow-root|flex|grid|table|list-item|ruby|math|run-in|-webkit-|-ms-|"
        r"inherit|initial|unset|revert|var\()"
    ),
    "visibility": re.compile(r"(?:visible|hidden|collapse|inherit|initial|unset|revert|var\()"),
    "opacity": re.compile(r"(?:[\d.+-]|calc\(|inherit|initial|unset|revert|var\()"),
}
"""How a value that browsers know begins."""


class Variables:
    """The variables that a page's stylesheets give one value only; sought when the first is asked for."""

    def __init__(self, bodies: Iterable[str]) -> None:
        self._bodies = bodies

    @cached_property
    def values(self) -> Mapping[str, str]:
        """Name → value."""
        values: dict[str, set[str]] = {}
        for body in self._bodies:
            if "--" in body:
                for name, value in DEFINITION.findall(body):
                    values.setdefault(name, set()).add(value.strip())
        return {name: next(iter(value)) for name, value in values.items() if len(value) == 1}


def plain(body: str, variables: Variables, *, own: bool = False) -> str:
    """The declarations of a rule, or an element's `own` ones, which may define variables themselves."""
    if "/*" in body:
        body = COMMENT.sub(" ", body)
    if "\\" in body:
        body = ESCAPE.sub(_unescaped, body).lower()
    if "var(" in body:
        body = _without_variables(body, variables, own=own)
    if "calc(" in body:
        body = SUM.sub(r"\1", body)
    if "e-" in body and SMALL.search(body):
        body = EXPONENT.sub(_written_out, body)
    if "inline-" in body or "block-" in body:
        body = SIDES.sub(lambda side: LOGICAL[side.group()], body)
    return _without_nonsense(body)


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    number = int(escape[1], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def _without_variables(body: str, variables: Variables, *, own: bool) -> str:
    if len(body) > MAX_BODY or not (own or DECIDING.search(body)):
        return body
    known = variables.values
    if own:
        known = {**known, **dict(DEFINITION.findall(body))}

    def value(found: re.Match[str]) -> str:
        told = known.get(found[1], found[2] or found[0]).strip()
        return told if len(told) <= MAX_VALUE else found[0]

    def decided(found: re.Match[str]) -> str:
        return VARIABLE.sub(value, found[0])

    for _ in range(MAX_ROUNDS):
        before = body
        body = VARIABLE.sub(value, body) if own else DECIDING.sub(decided, body)
        if body == before or len(body) > MAX_BODY:
            break
    return body


def _written_out(number: re.Match[str]) -> str:
    return f"{float(number[0]):.4f}"


def _without_nonsense(body: str) -> str:
    """The declarations without those values of the deciding properties that browsers pass over."""
    doubled = [name for name in WORDS if body.count(name) > 1]
    if not doubled:
        return body
    kept = []
    for declaration in body.split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() not in doubled or WORDS[name.strip()].match(value.strip()):
            kept.append(declaration)
    return ";".join(kept)
