"""Configuration files of other programs, edited as text: one entry is put, everything else stays byte for byte.

Text in, text out; which file it is from, and whose, is not known here.
"""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from typing import Protocol

from kindly.cli.configs.common import Malformed, Path, at, is_table

__all__ = ["Form", "Malformed", "merged"]


class Form(Protocol):
    """How a file is written."""

    def load(self, text: str) -> dict[str, object]:
        """What the text says; an empty one says nothing.

        Raises:
            Malformed: it cannot be read.
        """
        ...

    def put(self, text: str, path: Path, value: object) -> str:
        """The text with `value` at `path`, in place of what was there.

        Raises:
            Malformed: something on the way to `path` cannot hold it.
        """
        ...

    def remove(self, text: str, path: Path) -> str:
        """The text without what is at `path`."""
        ...

    def masked(self, text: str) -> str:
        """The text, line for line, with every value hidden that may be secret."""
        ...


def merged(
    form: Form, text: str, path: Path, fields: Mapping[str, object], dropped: Collection[str] = ()
) -> str:
    """The text with the entry at `path` having `fields` and none of `dropped`; whatever else it has is kept.

    A field that is a table is merged in its turn, name by name.

    Raises:
        Malformed: the text cannot be read, or is written in a way in which this cannot be done.
    """
    before = form.load(text)
    wanted = _wanted(before, path, fields, dropped)
    after = text
    if at(before, path) is None:
        after = form.put(after, path, dict(fields))
    else:
        for name in dropped:
            after = form.remove(after, (*path, name))
        for step, value in _leaves(path, before, fields):
            after = form.put(after, step, value)
    if _reloaded(form, after) != wanted:
        raise Malformed(
            1, f"{'.'.join(path)} is written in a way that cannot be changed without touching more"
        )
    return after


def _leaves(
    path: Path, before: Mapping[str, object], fields: Mapping[str, object]
) -> Sequence[tuple[Path, object]]:
    """What is to be put where, as little as possible."""
    steps: list[tuple[Path, object]] = []
    for name, value in fields.items():
        step = (*path, name)
        if is_table(value) and is_table(at(before, step)):
            steps += [((*step, key), item) for key, item in value.items()]
        else:
            steps.append((step, value))
    return [(step, value) for step, value in steps if at(before, step) != value]


def _wanted(
    before: Mapping[str, object],
    path: Path,
    fields: Mapping[str, object],
    dropped: Collection[str],
) -> dict[str, object]:
    wanted: dict[str, object] = deepcopy(dict(before))
    place = wanted
    for name in path:
        inner = place.setdefault(name, {})
        if not is_table(inner):
            raise Malformed(1, f"{name} is no table of servers")
        place = inner
    for name in dropped:
        place.pop(name, None)
    for name, value in fields.items():
        present = place.get(name)
        if is_table(value) and is_table(present):
            place[name] = {**present, **value}
        else:
            place[name] = value
    return wanted


def _reloaded(form: Form, text: str) -> dict[str, object] | None:
    try:
        return form.load(text)
    except Malformed:
        return None
