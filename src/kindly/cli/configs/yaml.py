"""YAML files, edited in place: one entry of one section is written; every other line stays as it is.

Only the entry itself is parsed, and only in the forms that programs write: one field a line, with a scalar, a list or a
table of scalars. The rest of the file is kept as text, so nothing in it can be lost.
"""

import json
import re

from kindly.cli.configs.common import MASK, Malformed, Path, is_secret, is_table, newline_of
from kindly.frozen import frozen

INDENT = 2
REST = ""
"""The name under which `load` returns all other lines."""
_FIELD = re.compile(
    r"""^(\s*)(?:"([^"]+)"|'([^']+)'|([^\s"'#\-{\[][^:#]*?))\s*:(?:\s+(.*?))?\s*$"""
)
_ITEM = re.compile(r"^\s*-(?:\s+(.*?))?\s*$")


@frozen
class _Place:
    """The lines of a section and of an entry in it; an empty range where it would be written."""

    lines: tuple[str, ...]
    section: int | None
    """The line of the section; None if there is none."""
    start: int
    end: int
    indent: int


@frozen
class Yaml:
    """YAML with one entry that matters, in a section in block style."""

    section: str
    entry: str

    def load(self, text: str) -> dict[str, object]:
        """The entry, if there is one, and all other lines as one text.

        Raises:
            Malformed: the section is in another style, or the entry cannot be parsed.
        """
        place = _find(text, (self.section, self.entry))
        others = (*place.lines[: place.start], *place.lines[place.end :])
        rest = [line for line in others if line.strip() and not _is_head(line, self.section)]
        tree: dict[str, object] = {REST: "\n".join(rest)}
        if place.start < place.end:
            tree[self.section] = {self.entry: _parsed(place)}
        return tree

    def put(self, text: str, path: Path, value: object) -> str:
        """The text with the value at `path`, which begins with the section and the entry."""
        place = _find(text, path[:2])
        fields = _parsed(place) if place.start < place.end else {}
        if len(path) == 2:
            fields = dict(value) if is_table(value) else {}
        else:
            table = _table(fields, path[2:-1])
            table[path[-1]] = value
        return _written(text, place, path[:2], fields)

    def remove(self, text: str, path: Path) -> str:
        """The text without the field at `path`."""
        place = _find(text, path[:2])
        if place.start == place.end:
            return text
        fields = _parsed(place)
        _table(fields, path[2:-1]).pop(path[-1], None)
        return _written(text, place, path[:2], fields)

    def masked(self, text: str) -> str:
        """The text with values hidden whose names say that they may be secret, also those below them."""
        shown: list[str] = []
        hidden_below: int | None = None
        for line in text.splitlines(keepends=True):
            indent = _indent(line) + bool(_ITEM.match(line.rstrip("\r\n")))
            if line.strip() and hidden_below is not None and indent <= hidden_below:
                hidden_below = None
            field = _FIELD.match(line.rstrip("\r\n"))
            name = _name(field) if field else ""
            if hidden_below is None and name and is_secret((name,)):
                hidden_below = indent
            hides = hidden_below is not None and line.strip() != f"{name}:"
            shown.append(_hidden(line, field) if hides and line.strip() else line)
        return "".join(shown)


def _is_head(line: str, section: str) -> bool:
    return bool(re.fullmatch(rf"{section}:\s*(?:\{{\s*\}}|null|~)?\s*", line))


def _find(text: str, path: Path) -> _Place:
    """Where the entry is, or would be."""
    section, entry = path
    lines = tuple(text.splitlines())
    for number, line in enumerate(lines, start=1):
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise Malformed(number, "a tab indents the line")
    heads = [n for n, line in enumerate(lines) if re.match(rf"{section}\s*:", line)]
    if not heads:
        return _Place(lines, None, len(lines), len(lines), INDENT)
    head = heads[0]
    if not _is_head(lines[head].split(" #")[0], section):
        raise Malformed(head + 1, f"{section} is not a table in block style")
    end = _block_end(lines, head + 1, 0)
    indents = [_indent(line) for line in lines[head + 1 : end] if _has_content(line)]
    indent = indents[0] if indents else INDENT
    for number in range(head + 1, end):
        field = _FIELD.match(lines[number])
        if field and len(field[1]) == indent and _name(field) == entry:
            return _Place(lines, head, number, _block_end(lines, number + 1, indent), indent)
    while end > head + 1 and not lines[end - 1].strip():
        end -= 1
    return _Place(lines, head, end, end, indent)


def _block_end(lines: tuple[str, ...], start: int, indent: int) -> int:
    """The first line after the block of a line with this indent; comments and blank lines before it stay outside."""
    end = start
    for number in range(start, len(lines)):
        line = lines[number]
        if _has_content(line):
            if _indent(line) <= indent:
                break
            end = number + 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _name(field: re.Match[str]) -> str:
    return str(next(filter(None, field.group(2, 3, 4)))).strip()


def _parsed(place: _Place) -> dict[str, object]:
    """The fields of the entry."""
    head = _FIELD.match(place.lines[place.start])
    if head and head[5]:
        value = _scalar(head[5], place.start)
        if not is_table(value):
            raise Malformed(place.start + 1, "the entry is not a table")
        return value
    rows = [n for n in range(place.start + 1, place.end) if _has_content(place.lines[n])]
    fields, rest = _table_of(place.lines, rows)
    if rest:
        raise Malformed(rest[0] + 1, "the line cannot be parsed")
    return fields


def _table_of(lines: tuple[str, ...], rows: list[int]) -> tuple[dict[str, object], list[int]]:
    """A table from the first rows, which have the same indent, and the rows after it."""
    fields: dict[str, object] = {}
    indent = _indent(lines[rows[0]]) if rows else 0
    while rows and _indent(lines[rows[0]]) == indent and (field := _FIELD.match(lines[rows[0]])):
        number, rows = rows[0], rows[1:]
        if field[5]:
            fields[_name(field)] = _scalar(field[5], number)
        elif rows and _ITEM.match(lines[rows[0]]) and _indent(lines[rows[0]]) >= indent:
            items: list[object] = []
            while rows and (item := _ITEM.match(lines[rows[0]])):
                items.append(_scalar(item[1] or "null", rows[0]))
                rows = rows[1:]
            fields[_name(field)] = items
        elif rows and _indent(lines[rows[0]]) > indent:
            fields[_name(field)], rows = _table_of(lines, rows)
        else:
            fields[_name(field)] = None
    return fields, rows


def _scalar(text: str, number: int) -> object:
    """A value as programs write it: JSON, in single quotes, or plain."""
    try:
        value: object = json.loads(text)
    except ValueError:
        pass
    else:
        return value
    if text.startswith("'") and text.endswith("'") and len(text) > 1:
        return text[1:-1].replace("''", "'")
    plain = text.split(" #")[0].rstrip()
    if plain != text:
        return _scalar(plain, number)
    if text[0] in "[{\"'|>&*!%@`":
        raise Malformed(number + 1, "the value is in a form that cannot be changed here")
    return {"~": None, "true": True, "false": False}.get(text.lower(), text)


def _table(fields: dict[str, object], path: Path) -> dict[str, object]:
    for name in path:
        inner = fields.setdefault(name, {})
        if not is_table(inner):
            raise Malformed(1, f"{name} is not a table")
        fields = inner
    return fields


def _written(text: str, place: _Place, path: Path, fields: dict[str, object]) -> str:
    newline = newline_of(text)
    outer, inner = " " * place.indent, " " * (place.indent + INDENT)
    entry = [f"{outer}{path[1]}:"]
    entry += [f"{inner}{name}: {json.dumps(fields[name], ensure_ascii=False)}" for name in fields]
    before, after = list(place.lines[: place.start]), list(place.lines[place.end :])
    if place.section is None:
        entry = [f"{path[0]}:", *entry]
    else:
        before[place.section] = re.sub(r":\s*(?:\{\s*\}|null|~)", ":", before[place.section])
    return newline.join((*before, *entry, *after)) + newline


def _hidden(line: str, field: re.Match[str] | None) -> str:
    """The line without its value."""
    ending = line[len(line.rstrip("\r\n")) :]
    if field is None:
        return f"{line[: _indent(line)]}- {MASK}{ending}"
    return f"{field[1]}{_name(field)}: {MASK}{ending}"
