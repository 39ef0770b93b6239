"""What the forms of configuration files share: paths, the error of a file that cannot be read, what may be secret."""

import re
from collections.abc import Mapping
from typing import TypeGuard

Path = tuple[str, ...]

MASK = "***"
SECRET_NAMES = re.compile(r"^(?:env|\w*headers)$|key|token|secret|passw|auth|credential", re.I)


class Malformed(Exception):
    """A file that cannot be read or changed; `line` is where, and `what` says why."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line
        self.what = what


def is_table(value: object) -> TypeGuard[dict[str, object]]:
    """Whether it holds names."""
    return isinstance(value, dict)


def at(tree: Mapping[str, object], path: Path) -> object | None:
    """What stands at a path; None where there is nothing."""
    found: object = tree
    for name in path:
        if not is_table(found):
            return None
        found = found.get(name)
    return found


def is_secret(path: Path) -> bool:
    """Whether what stands there may be a key: judged by the names above it."""
    return any(SECRET_NAMES.search(name) for name in path)


def line_of(text: str, position: int) -> int:
    """The number of the line, from 1."""
    return text.count("\n", 0, position) + 1


def newline_of(text: str) -> str:
    """How the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"
