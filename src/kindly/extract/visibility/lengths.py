"""CSS lengths in pixels, for a viewport of 1280 × 800 and a font of 16 pixels. Pure.

`calc()`, `min()`, `max()` and `clamp()` are evaluated.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

VIEWPORT = (1280.0, 800.0)
"""Width and height."""
WIDTH, HEIGHT = VIEWPORT
NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
LENGTH = re.compile(rf"({NUMBER})([a-z]+|%)?\Z")
TOKEN = re.compile(r"\s*((?:\d+(?:\.\d*)?|\.\d+)(?:[a-z]+|%)?|[a-z]*\(|[-+*/(),])")
UNITS = {
    "": 1.0,
    "px": 1.0,
    "pt": 1.33,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "vw": WIDTH / 100,
    "vi": WIDTH / 100,
    "vh": HEIGHT / 100,
    "vb": HEIGHT / 100,
    "vmin": HEIGHT / 100,
    "vmax": WIDTH / 100,
}
"""Pixels per unit, without percent."""
VIEWPORT_UNIT = re.compile(r"\dv(?:w|h|i|b|min|max)(?![a-z])|\d[sld]v(?:w|h|i|b|min|max)(?![a-z])")
FUNCTIONS = ("calc(", "(", "min(", "max(", "clamp(")
MAX_FORMULA = 200
MAX_DEPTH = 10
DEFAULT_PERCENT = 10.0
"""Pixels per percent where the size of the containing block is not known."""


def pixels(value: str | None, percent: float = DEFAULT_PERCENT) -> float | None:
    """A length in pixels, approximately; None if it is none."""
    if not value:
        return None
    found = LENGTH.match(value)
    if found is not None:
        return _measure(found[1], found[2] or "", percent)
    return _formula(value, percent) if "(" in value else None


def percent(value: str | None) -> float:
    """The number of a percentage; zero for other values."""
    return float(value[:-1]) if value and value.endswith("%") and LENGTH.match(value) else 0.0


def uses_viewport(value: str | None) -> bool:
    """Whether a length depends on the size of the viewport."""
    return value is not None and VIEWPORT_UNIT.search(value) is not None


def _measure(number: str, unit: str, percent: float) -> float | None:
    if unit == "%":
        return float(number) * percent
    if unit[:1] in ("s", "l", "d") and unit[1:2] == "v":
        unit = unit[1:]
    factor = UNITS.get(unit)
    return None if factor is None else float(number) * factor


@lru_cache(maxsize=512)
def _formula(value: str, percent: float) -> float | None:
    if len(value) > MAX_FORMULA:
        return None
    tokens = list(_tokens(value))
    try:
        result, rest = _sum(tokens, 0, percent, 0)
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    return result if rest == len(tokens) else None


def _tokens(value: str) -> Iterator[str]:
    at = 0
    while at < len(value.rstrip()):
        found = TOKEN.match(value, at)
        if found is None:
            yield "?"
            return
        yield found[1]
        at = found.end()


def _sum(tokens: list[str], at: int, percent: float, depth: int) -> tuple[float, int]:
    total, at = _product(tokens, at, percent, depth)
    while at < len(tokens) and tokens[at] in ("+", "-"):
        sign = 1 if tokens[at] == "+" else -1
        term, at = _product(tokens, at + 1, percent, depth)
        total += sign * term
    return total, at


def _product(tokens: list[str], at: int, percent: float, depth: int) -> tuple[float, int]:
    result, at = _factor(tokens, at, percent, depth)
    while at < len(tokens) and tokens[at] in ("*", "/"):
        divides = tokens[at] == "/"
        factor, at = _factor(tokens, at + 1, percent, depth)
        result = result / factor if divides else result * factor
    return result, at


def _factor(tokens: list[str], at: int, percent: float, depth: int) -> tuple[float, int]:
    word = tokens[at]
    if word in ("-", "+"):
        value, at = _factor(tokens, at + 1, percent, depth)
        return (-value if word == "-" else value), at
    if word in FUNCTIONS:
        return _function(word, tokens, at + 1, percent, depth)
    found = LENGTH.match(word)
    size = None if found is None else _measure(found[1], found[2] or "", percent)
    if size is None:
        raise ValueError(word)
    return size, at + 1


def _function(
    name: str, tokens: list[str], at: int, percent: float, depth: int
) -> tuple[float, int]:
    if depth > MAX_DEPTH:
        raise ValueError(name)
    values = []
    while True:
        value, at = _sum(tokens, at, percent, depth + 1)
        values.append(value)
        if tokens[at] == ")":
            break
        if tokens[at] != ",":
            raise ValueError(tokens[at])
        at += 1
    if name == "min(":
        return min(values), at + 1
    if name == "max(":
        return max(values), at + 1
    if name == "clamp(" and len(values) == 3:
        return max(values[0], min(values[1], values[2])), at + 1
    if len(values) != 1:
        raise ValueError(name)
    return values[0], at + 1
