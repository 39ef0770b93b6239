"""TOML configuration files, edited with tomlkit, which keeps comments and layout."""

import re
import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
from kindly.frozen import frozen

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

BOM = "\ufeff"


@frozen
class Toml:
    """A `Form` of file."""

    def load(self, text: str) -> dict[str, object]:
        """Parse with the standard library, whose errors name the line."""
        try:
            return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"\(at line (\d+)", str(error))
            line = int(found[1]) if found else line_of(text, len(text))
            what = str(error).partition(" (at ")[0]
            raise Malformed(line, what[:1].lower() + what[1:]) from None

    def put(self, text: str, path: Path, value: object) -> str:
        """The text with `value` at `path`; a new table goes to the end."""
        if is_table(value) and at(self.load(text), path) is None and not _is_inline(text, path):
            return _append_table(text, path, value)
        document = _parse(text)
        _set(document, path, value)
        return _dump(document, text)

    def remove(self, text: str, path: Path) -> str:
        """The text without what is at `path`."""
        if at(self.load(text), path) is None:
            return text
        document = _parse(text)
        container: Any = document
        for name in path[:-1]:
            container = container[name]
        del container[path[-1]]
        return _dump(document, text)

    def masked(self, text: str) -> str:
        """The text with every value hidden that may be secret."""
        document = _parse(text)
        _mask(document, ())
        return _dump(document, text)


def _parse(text: str) -> "TOMLDocument":
    import tomlkit

    return tomlkit.parse(_unix(text.removeprefix(BOM)))


def _dump(document: "TOMLDocument", before: str) -> str:
    text = document.as_string()
    text = text.replace("\n", "\r\n") if _is_windows(before) else text
    return BOM + text if before.startswith(BOM) else text


def _is_windows(text: str) -> bool:
    """Whether every line ends in CRLF; tomlkit adds lines that end in LF."""
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n") if _is_windows(text) else text


def _set(container: Any, path: Path, value: object) -> None:
    """Put `value` at `path` in place. tomlkit loses the space before the brace of an inline table that grows."""
    import tomlkit
    from tomlkit.items import InlineTable

    first, *others = path
    inner = container.get(first)
    if not others or inner is None:
        for name in reversed(others):
            value = {name: value}
        container[first] = tomlkit.value(_raw(value))
    elif isinstance(inner, InlineTable) and others[0] not in inner:
        for name in reversed(others[1:]):
            value = {name: value}
        container[first] = tomlkit.value(_grown(inner.as_string(), _raw_pair(others[0], value)))
    else:
        _set(inner, tuple(others), value)


def _raw(value: object) -> str:
    """A value on one line, as TOML."""
    import tomlkit

    if not is_table(value):
        return tomlkit.item(value).as_string()
    pairs = [_raw_pair(name, item) for name, item in value.items()]
    return f"{{ {', '.join(pairs)} }}" if pairs else "{}"


def _raw_pair(name: str, value: object) -> str:
    import tomlkit

    return f"{tomlkit.key(name).as_string()} = {_raw(value)}"


def _grown(table: str, pair: str) -> str:
    """An inline table with one more pair at its end."""
    inner = table[1:-1]
    if not inner.strip():
        return f"{{ {pair} }}"
    space = inner[len(inner.rstrip()) :]
    return f"{{{inner.rstrip()}, {pair}{space}}}"


def _is_inline(text: str, path: Path) -> bool:
    """Whether a table on the way to `path` is an inline table, in which no `[table]` can be."""
    from tomlkit.items import InlineTable

    found: Any = _parse(text)
    for name in path:
        if name not in found:
            return False
        found = found[name]
        if isinstance(found, InlineTable):
            return True
    return False


def _append_table(text: str, path: Path, fields: dict[str, object]) -> str:
    """The text with a new `[table]` after its last line."""
    import tomlkit

    newline = newline_of(text)
    table = tomlkit.table()
    for name, value in fields.items():
        table[name] = tomlkit.value(_raw(value))
    *parents, name = path
    for parent in reversed(parents):
        outer = tomlkit.table(is_super_table=True)
        outer[name] = table
        name, table = parent, outer
    document = tomlkit.document()
    document[name] = table
    block = document.as_string().replace("\n", newline)
    kept = text if not text or text.endswith("\n") else text + newline
    gap = newline if kept.strip() and not kept.endswith(newline * 2) else ""
    return kept + gap + block


def _mask(container: Any, path: Path) -> None:
    """Replace every string that may be a secret; the number of lines stays."""
    import tomlkit
    from tomlkit.items import String

    for key, value in _items(container):
        inner = (*path, key) if isinstance(key, str) else path
        if isinstance(value, String):
            if is_secret(inner):
                lines = value.as_string().count("\n")
                container[key] = tomlkit.string(MASK + "\n" * lines, multiline=lines > 0)
        elif isinstance(value, dict | list):
            _mask(value, inner)


def _items(container: Any) -> Iterator[tuple[Any, Any]]:
    return iter(list(container.items() if isinstance(container, dict) else enumerate(container)))
