"""Data formats (JSON, JSON Lines, CSV and TSV) → readable text.

JSON is re-indented token by token: numbers, repeated keys and the order of keys stay as written.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import Final

from kindly.extract import ExtractOptions
from kindly.extract.formats.html_fragment import note, read_fragment, table
from kindly.extract.html import ExtractedText

MAX_PRETTY_CHARACTERS: Final = 2_000_000
MAX_INDENT: Final = 24
MAX_OBJECTS: Final = 200
MAX_ROWS: Final = 1_000
MAX_COLUMNS: Final = 50
MAX_CELL: Final = 1_000
TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]+', re.S)
SURROGATE = re.compile("[\ud800-\udfff]")
DELIMITERS = ",;\t|"


def is_json(text: str) -> bool:
    """Whether the text is one JSON value; numbers may have any length."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def is_json_lines(text: str) -> bool:
    """Whether the text has more than one line and each of the first ones is a JSON object or array."""
    lines = [line for line in text[:200_000].splitlines() if line.strip()]
    lines = lines[: -1 if len(text) > 200_000 else None][:20]
    return len(lines) > 1 and all(line.lstrip()[0] in "{[" and is_json(line) for line in lines)


def json_text(text: str, max_characters: int = MAX_PRETTY_CHARACTERS) -> str:
    """Indented JSON, or the text itself if it is not valid JSON or the result would be too long."""
    if not is_json(text):
        return text.strip("\n")
    size = 0
    pieces: list[str] = []
    for piece in _pretty(text):
        size += len(piece)
        if size > max_characters:
            return text.strip("\n")
        pieces.append(piece)
    return "".join(pieces)


def json_lines(text: str) -> tuple[str, str | None]:
    """The first objects of JSON Lines, and a note if there are more."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = "\n".join(lines[:MAX_OBJECTS])
    if len(lines) <= MAX_OBJECTS:
        return shown, None
    return shown, f"the file is truncated: {MAX_OBJECTS} of its {len(lines):,} objects were read"


def fenced(text: str, language: str) -> str:
    """A fenced code block; the fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def read_table(text: str, options: ExtractOptions, url: str) -> ExtractedText | None:
    """CSV or TSV as a table; None if the text has no columns."""
    rows, cut = _rows(text)
    if not rows or max(map(len, rows)) < 2:
        return None
    markup = table(rows)
    if cut:
        markup += note(f"the table is truncated: {cut}")
    extracted = read_fragment(markup, options, url)
    return ExtractedText(
        extracted.text, extracted.metadata, (), extracted.hidden_dropped, partial=bool(cut)
    )


def _rows(text: str) -> tuple[list[list[str]], str]:
    """The rows to show, and a note about what is left out."""
    rows: list[list[str]] = []
    wide = 0
    lines = text.splitlines()
    try:
        for row in csv.reader(lines, delimiter=_delimiter(text)):
            if len(rows) > MAX_ROWS:
                break
            wide = max(wide, len(row))
            if any(cell.strip() for cell in row):
                rows.append([" ".join(cell.split())[:MAX_CELL] for cell in row[:MAX_COLUMNS]])
    except csv.Error:
        return [], ""
    width = max(map(len, rows), default=0)
    left_out = [
        f"{MAX_ROWS + 1:,} of about {len(lines):,} rows were read" if len(rows) > MAX_ROWS else "",
        f"{MAX_COLUMNS} of {wide:,} columns were read" if wide > MAX_COLUMNS else "",
    ]
    padded = [row + [""] * (width - len(row)) for row in rows]
    return padded, ", ".join(filter(None, left_out))


def _delimiter(text: str) -> str:
    """The separator that occurs most often on every one of the first lines."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]
    return max(DELIMITERS, key=lambda mark: min((line.count(mark) for line in lines), default=0))


def _pretty(text: str) -> Iterator[str]:
    """The tokens of valid JSON, with each value on its own line."""
    depth = 0
    parts = TOKEN.findall(text)
    for position, part in enumerate(parts):
        following = parts[position + 1] if position + 1 < len(parts) else ""
        if part in "{[":
            depth += 1
            yield part if following in "}]" else part + _break(depth)
        elif part in "}]":
            depth -= 1
            opened = parts[position - 1] in "{["
            yield part if opened else _break(depth) + part
        elif part == ",":
            yield part + _break(depth)
        else:
            yield ": " if part == ":" else _readable(part)


def _break(depth: int) -> str:
    return "\n" + "  " * min(depth, MAX_INDENT)


def _readable(token: str) -> str:
    """A JSON token with the escapes of a string resolved."""
    if "\\" not in token:
        return token
    value = json.loads(token)
    return json.dumps(value, ensure_ascii=SURROGATE.search(value) is not None)
