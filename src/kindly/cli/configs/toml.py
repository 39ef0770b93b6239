"""TOML, changed statement by statement. Only what `tomllib` has read before is scanned."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from kindly.cli.configs.common import (
    MASK,
    Malformed,
    Path,
    at,
    is_secret,
    is_table,
    line_of,
    newline_of,
)

KEY = re.compile(r"""[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*(\.?)""")
NAMED = re.compile(r"""([\w-]+)["']?[ \t]*=""")
BARE = re.compile(r"[A-Za-z0-9_-]+")
BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|#[^\n]*)+")
TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?'{3,5}(?!')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|.''',
    re.DOTALL,
)
STRING = re.compile(
    r'''(=\s*)("""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?'{3,5}(?!')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')''',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A table's head, or a name and its value."""

    path: Path
    start: int
    end: int
    """Behind its last character; what ends the line is not part of it."""
    value: int | None
    """Where the value begins; None for a head."""


@dataclass(frozen=True, slots=True)
class Toml:
    """A form of file; see `Form`."""

    def load(self, text: str) -> dict[str, object]:
        """What the text says."""
        try:
            return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"\(at line (\d+)", str(error))
            line = int(found[1]) if found else line_of(text, len(text))
            what = str(error).partition(" (at ")[0]
            raise Malformed(line, what[:1].lower() + what[1:]) from None

    def put(self, text: str, path: Path, value: object) -> str:
        """The text with `value` at `path`; a new table goes to the end."""
        statements = list(_scanned(text))
        for one in statements:
            if one.value is not None and one.path == path[: len(one.path)]:
                inside = _placed(at(self.load(text), one.path), path[len(one.path) :], value)
                return text[: one.value] + _rendered(inside) + text[one.end :]
        if is_table(value) and not any(one.path[: len(path)] == path for one in statements):
            return _appended(text, path, value)
        return _added(text, statements, path, value)

    def remove(self, text: str, path: Path) -> str:
        """The text without the statements that make up what is at `path`."""
        for one in reversed(list(_scanned(text))):
            if one.path[: len(path)] == path:
                start = text.rfind("\n", 0, one.start) + 1
                end = text.find("\n", one.end) + 1 or len(text)
                text = text[:start] + text[end:]
        return text

    def masked(self, text: str) -> str:
        """The text with every value hidden that may be secret."""
        for one in reversed(list(_scanned(text))):
            whole = text[one.start : one.end]
            if one.value is not None and any(map(is_secret, _names(one.path, whole))):
                text = text[: one.start] + STRING.sub(_hidden, whole) + text[one.end :]
        return text


def _names(path: Path, statement: str) -> Iterator[Path]:
    """The statement's own path, and the names in inline tables of it."""
    yield path
    if "{" in statement:
        yield from ((name,) for name in NAMED.findall(statement))


def _hidden(found: re.Match[str]) -> str:
    lines = found[2].count("\n")
    return f'{found[1]}"{MASK}"' + "\n" * lines


def _scanned(text: str) -> Iterator[Statement]:
    """The statements in order, each with its full path; those of an array of tables share the array's."""
    table: Path = ()
    position = 0
    while True:
        blank = BLANK.match(text, position)
        position = blank.end() if blank else position
        if position >= len(text):
            return
        start = position
        if text[position] == "[":
            table, position = _keys(text, position + (2 if text.startswith("[[", position) else 1))
            position = text.index("]", position) + 1
            position += text.startswith("]", position)
            yield Statement(table, start, position, None)
        else:
            names, position = _keys(text, position)
            value = re.compile(r"=\s*").match(text, position)
            begins = value.end() if value else position
            position = _value_end(text, begins)
            yield Statement((*table, *names), start, position, begins)


def _keys(text: str, position: int) -> tuple[Path, int]:
    names: list[str] = []
    while found := KEY.match(text, position):
        quoted = found[1][0] in "\"'"
        names.append(str(tomllib.loads(f"k = {found[1]}")["k"]) if quoted else found[1])
        position = found.end()
        if not found[2]:
            break
    return tuple(names), position


def _value_end(text: str, position: int) -> int:
    """Behind the last character of the value that begins here."""
    depth, end = 0, position
    for token in TOKEN.finditer(text, position):
        piece = token[0]
        if depth == 0 and (piece == "\n" or piece[0] == "#"):
            break
        depth += (piece in "[{") - (piece in "]}")
        if not piece.isspace() and piece[0] != "#":
            end = token.end()
    return end


def _placed(present: object, path: Path, value: object) -> object:
    """`present` with `value` at a path below it."""
    if not path:
        return value
    table = present if is_table(present) else {}
    return {**table, path[0]: _placed(table.get(path[0]), path[1:], value)}


def _appended(text: str, path: Path, table: dict[str, object]) -> str:
    newline = newline_of(text)
    head = f"[{'.'.join(map(_key, path))}]"
    lines = [head, *(f"{_key(name)} = {_rendered(item)}" for name, item in table.items())]
    kept = text if not text or text.endswith("\n") else text + newline
    gap = newline if kept.strip() and not kept.endswith(newline * 2) else ""
    return kept + gap + newline.join(lines) + newline


def _added(text: str, statements: list[Statement], path: Path, value: object) -> str:
    """The text with one more line in the nearest table above `path`."""
    heads = [one for one in statements if one.value is None and one.path == path[: len(one.path)]]
    nearest = max(heads, key=lambda one: len(one.path), default=None)
    newline = newline_of(text)
    if nearest is None:
        line = f"{'.'.join(map(_key, path))} = {_rendered(value)}{newline}"
        first = next((one for one in statements if one.value is None), None)
        here = text.rfind("\n", 0, first.start) + 1 if first else len(text)
        return text[:here] + line + text[here:]
    last = nearest
    for one in statements[statements.index(nearest) + 1 :]:
        if one.value is None:
            break
        last = one
    end = text.find("\n", last.end)
    end = len(text) if end < 0 else end - text.startswith("\r", end - 1)
    rest = path[len(nearest.path) :]
    line = f"{newline}{'.'.join(map(_key, rest))} = {_rendered(value)}"
    return text[:end] + line + text[end:]


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rendered(value: object) -> str:
    """A value on one line."""
    if is_table(value):
        inside = ", ".join(f"{_key(name)} = {_rendered(item)}" for name, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_rendered, value))}]"
    return _string(value) if isinstance(value, str) else json.dumps(value)
