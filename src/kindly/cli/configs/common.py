"""Shared by the file formats: paths, the error for a malformed file, which values may be secret."""

import re
from collections.abc import Mapping
from typing import TypeGuard

Path = tuple[str, ...]

MASK = "***"
SECRET_NAMES = re.compile(
    r"^(?:envs?|environment|\w*headers)$|key|token|secret|passw|auth|credential", re.I
)


class Malformed(Exception):
    """A file that cannot be parsed or changed: the line and the reason."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line
        self.what = what


def is_table(value: object) -> TypeGuard[dict[str, object]]:
    """Whether the value is a TOML table or a JSON object."""
    return isinstance(value, dict)


def at(tree: Mapping[str, object], path: Path) -> object | None:
    """The value at a path; None if there is none."""
    found: object = tree
    for name in path:
        if not is_table(found):
            return None
        found = found.get(name)
    return found


def is_secret(path: Path) -> bool:
    """Whether the value at a path may be a secret, judged by the names in the path."""
    return any(SECRET_NAMES.search(name) for name in path)


def line_of(text: str, position: int) -> int:
    """The number of the line, starting at 1."""
    return text.count("\n", 0, position) + 1


def newline_of(text: str) -> str:
    """The line ending of the text."""
    return "\r\n" if "\r\n" in text else "\n"
