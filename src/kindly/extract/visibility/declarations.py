"""Normalisation of CSS declarations in lower case. Pure.

Comments, escapes, `calc()` of one number, exponents, logical properties and variables are replaced by their plain
equivalents; invalid values are dropped, as browsers do.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?|\\([^\n])")
CALC = re.compile(r"calc\(\s*(-?(?:\d+(?:\.\d*)?|\.\d+)(?:[a-z]+|%)?)\s*\)")
MAYBE_EXPONENT = re.compile(r"[\d.]e-?\d")
EXPONENT = re.compile(r"(?<![\w.#-])(?:\d+(?:\.\d*)?|\.\d+)e-?\d{1,2}(?!\w)")
VARIABLE = re.compile(r"var\(\s*(--[\w-]{1,100})\s*(?:,([^()]*))?\)")
DEFINITION = re.compile(r"(--(?<![\w-]--)[\w-]{1,100})\s*:\s*([^;{}!]*)")
"""It starts with the marks, not with a look-behind, so that the search skips to them."""
NO_LONGER_NAME = r"(?<![\w-]%s)"
"""Behind a name, so that the search skips to the name."""
HIDING_PROPERTIES = (
    *("display", "visibility", "content-visibility", "opacity", "font-size", "position"),
    *("height", "width", "zoom"),
)
WHOLE_VALUE = re.compile(
    f"(?:{'|'.join(name + NO_LONGER_NAME % name for name in HIDING_PROPERTIES)})"
    rf"\s*:\s*{VARIABLE.pattern}"
)
"""A variable as the whole value of a property that hides text. Colours are left out: they mostly come from themes."""
MAX_BODY = 10_000
MAX_VALUE = 200
"""Longer declarations and values are not expanded: nested variables grow exponentially."""
MAX_NESTING = 3
"""How many levels of nested variables are expanded."""

PHYSICAL = {
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "inline-size": "width",
    "block-size": "height",
}
LOGICAL_PROPERTY = re.compile("|".join(PHYSICAL))

VALID_VALUES = {
    "display": re.compile(
        r"(?:none|block|inline|contents|flow|flow-root|flex|grid|table|list-item|ruby|math|run-in|-webkit-|-ms-|"
        r"inherit|initial|unset|revert|var\()"
    ),
    "visibility": re.compile(r"(?:visible|hidden|collapse|inherit|initial|unset|revert|var\()"),
    "opacity": re.compile(r"(?:[\d.+-]|calc\(|inherit|initial|unset|revert|var\()"),
}
"""How a valid value starts."""


class Variables:
    """The CSS variables with a single value in the page's stylesheets; computed on first use."""

    def __init__(self, bodies: Iterable[str]) -> None:
        self._bodies = bodies

    @cached_property
    def values(self) -> Mapping[str, str]:
        """Name → value."""
        values: dict[str, set[str]] = {}
        for body in self._bodies:
            if "--" in body:
                for name, value in DEFINITION.findall(body.lower()):
                    values.setdefault(name, set()).add(value.strip())
        return {name: next(iter(value)) for name, value in values.items() if len(value) == 1}


def normalise(body: str, variables: Variables, *, own: bool = False) -> str:
    """The normalised declarations of a rule, or an element's `own` ones, which may define variables themselves."""
    if "/*" in body:
        body = COMMENT.sub(" ", body)
    if "\\" in body:
        body = ESCAPE.sub(_unescaped, body).lower()
    if "var(" in body:
        body = _expand_variables(body, variables, own=own)
    if "calc(" in body:
        body = CALC.sub(r"\1", body)
    if "e-" in body and MAYBE_EXPONENT.search(body):
        body = EXPONENT.sub(_without_exponent, body)
    if "inline-" in body or "block-" in body:
        body = LOGICAL_PROPERTY.sub(lambda side: PHYSICAL[side.group()], body)
    return _without_invalid(body)


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    number = int(escape[1], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def _expand_variables(body: str, variables: Variables, *, own: bool) -> str:
    if len(body) > MAX_BODY or not (own or WHOLE_VALUE.search(body)):
        return body
    known = variables.values
    if own:
        known = {**known, **dict(DEFINITION.findall(body))}

    def value(found: re.Match[str]) -> str:
        known_value = known.get(found[1], found[2] or found[0]).strip()
        return known_value if len(known_value) <= MAX_VALUE else found[0]

    def whole_value(found: re.Match[str]) -> str:
        return VARIABLE.sub(value, found[0])

    for _ in range(MAX_NESTING):
        before = body
        body = VARIABLE.sub(value, body) if own else WHOLE_VALUE.sub(whole_value, body)
        if body == before or len(body) > MAX_BODY:
            break
    return body


def _without_exponent(number: re.Match[str]) -> str:
    return f"{float(number[0]):.4f}"


def _without_invalid(body: str) -> str:
    """The declarations without invalid values, which matters only where a property occurs more than once."""
    if body.count("display") < 2 and body.count("visibility") < 2 and body.count("opacity") < 2:
        return body  # by far the most common case, and faster without a loop
    repeated = [name for name in VALID_VALUES if body.count(name) > 1]
    kept = []
    for declaration in body.split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() not in repeated or VALID_VALUES[name.strip()].match(value.strip()):
            kept.append(declaration)
    return ";".join(kept)
