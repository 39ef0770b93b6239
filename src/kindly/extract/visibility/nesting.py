"""Nested CSS rules: the selectors of a rule inside another → selectors without nesting. Pure."""

MAX_SELECTOR = 1_000
MAX_COMBINATIONS = 50
"""Longer and more selectors than these are not expanded: they multiply with every level of nesting."""
Selectors = tuple[str, ...]
"""Selectors, or lists of selectors separated by commas."""


def nested_selectors(parents: Selectors, head: str) -> Selectors:
    """The selectors of a rule with this head in a rule with these selectors; none if there are too many.

    `&` stands for the parent; without it the head describes descendants of the parent, or starts with a combinator.
    """
    outer = [part for parent in parents for part in split_selectors(parent)]
    parts = split_selectors(head)
    if len(outer) * len(parts) > MAX_COMBINATIONS:
        return ()
    found = [_nested(parent, part) for parent in outer for part in parts]
    return tuple(selector for selector in found if len(selector) <= MAX_SELECTOR)


def split_selectors(text: str) -> list[str]:
    """The selectors of a list; commas in parentheses and brackets do not separate."""
    if "(" not in text and "[" not in text:
        return [part for part in map(str.strip, text.split(",")) if part]
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in map(str.strip, (*parts, text[start:])) if part]


def _nested(parent: str, part: str) -> str:
    if "&" not in part:
        return f"{parent} {part}"
    before = part.partition("&")[0]
    plain = not before.strip() or before[-1].isspace() or before[-1] in "(>+~,"
    return part.replace("&", parent if plain else f":is({parent})")
