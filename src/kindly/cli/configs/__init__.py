"""Edits configuration files of other programs: sets one entry, everything else stays byte for byte.

Pure: text in, text out.
"""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from typing import Protocol

from kindly.cli.configs.common import Malformed, Path, at, is_table

__all__ = ["Form", "Malformed", "merged"]


class Form(Protocol):
    """A file format."""

    def load(self, text: str) -> dict[str, object]:
        """Parse the text; an empty text is an empty table.

        Raises:
            Malformed: it cannot be parsed.
        """
        ...

    def put(self, text: str, path: Path, value: object) -> str:
        """The text with `value` at `path`, replacing a former value.

        Raises:
            Malformed: a value on the way to `path` is not a table.
        """
        ...

    def remove(self, text: str, path: Path) -> str:
        """The text without the value at `path`."""
        ...

    def masked(self, text: str) -> str:
        """The text with values that may be secret hidden; the number of lines stays."""
        ...


def merged(
    form: Form, text: str, path: Path, fields: Mapping[str, object], dropped: Collection[str] = ()
) -> str:
    """The text with `fields` set in the entry at `path` and `dropped` removed; other fields are kept.

    A field that is a table is merged name by name.

    Raises:
        Malformed: the text cannot be parsed, or its layout does not allow the change.
    """
    before = form.load(text)
    expected = _expected(before, path, fields, dropped)
    after = text
    if at(before, path) is None:
        after = form.put(after, path, dict(fields))
    else:
        for name in dropped:
            after = form.remove(after, (*path, name))
        for step, value in _leaves(path, before, fields):
            after = form.put(after, step, value)
    if _reloaded(form, after) != expected:
        raise Malformed(1, f"{'.'.join(path)} cannot be changed without changing more of the file")
    return after


def _leaves(
    path: Path, before: Mapping[str, object], fields: Mapping[str, object]
) -> Sequence[tuple[Path, object]]:
    """The smallest set of values to put."""
    steps: list[tuple[Path, object]] = []
    for name, value in fields.items():
        step = (*path, name)
        if is_table(value) and is_table(at(before, step)):
            steps += [((*step, key), item) for key, item in value.items()]
        else:
            steps.append((step, value))
    return [(step, value) for step, value in steps if at(before, step) != value]


def _expected(
    before: Mapping[str, object],
    path: Path,
    fields: Mapping[str, object],
    dropped: Collection[str],
) -> dict[str, object]:
    expected: dict[str, object] = deepcopy(dict(before))
    place = expected
    for name in path:
        inner = place.setdefault(name, {})
        if not is_table(inner):
            raise Malformed(1, f"{name} is not a table of servers")
        place = inner
    for name in dropped:
        place.pop(name, None)
    for name, value in fields.items():
        present = place.get(name)
        if is_table(value) and is_table(present):
            place[name] = {**present, **value}
        else:
            place[name] = value
    return expected


def _reloaded(form: Form, text: str) -> dict[str, object] | None:
    try:
        return form.load(text)
    except Malformed:
        return None
