"""Data as text — JSON, JSON Lines, separated values — → something to read. Nothing is evaluated or rounded.

Numbers, repeated keys and the order of JSON stay as they were written.
"""

import csv
import json
import re
from collections.abc import Iterator
from typing import Final

from kindly.extract import ExtractOptions
from kindly.extract.formats.markup_piece import note, read_fragment, table
from kindly.extract.html import HtmlText

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
    """Whether the text is one JSON value; numbers of any length are."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def is_json_lines(text: str) -> bool:
    """Whether the text has an object or array of JSON on each of its first lines, and more than one line."""
    lines = [line for line in text[:200_000].splitlines() if line.strip()]
    lines = lines[: -1 if len(text) > 200_000 else None][:20]
    return len(lines) > 1 and all(line.lstrip()[0] in "{[" and is_json(line) for line in lines)


def json_text(text: str) -> str:
    """Indented JSON, or the text itself when it is not JSON or would grow too long."""
    if not is_json(text):
        return text.strip("\n")
    size = 0
    pieces: list[str] = []
    for piece in _pretty(text):
        size += len(piece)
        if size > MAX_PRETTY_CHARACTERS:
            return text.strip("\n")
        pieces.append(piece)
    return "".join(pieces)


def json_lines(text: str) -> tuple[str, str | None]:
    """The first objects of JSON Lines, one a line, and what to say if there are more."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = "\n".join(lines[:MAX_OBJECTS])
    if len(lines) <= MAX_OBJECTS:
        return shown, None
    return shown, f"the file goes on: {MAX_OBJECTS} of its {len(lines):,} objects were read"


def fenced(text: str, language: str) -> str:
    """A code block, its fence longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def read_table(text: str, options: ExtractOptions, url: str) -> HtmlText | None:
    """Rows of separated values as a table, or None if the text is not of that shape."""
    rows, cut = _rows(text)
    if not rows or max(map(len, rows)) < 2:
        return None
    drawn = table(rows)
    if cut:
        drawn += note(f"the table goes on: {cut}")
    reading = read_fragment(drawn, options, url)
    return HtmlText(reading.text, reading.metadata, (), reading.hidden_dropped, partial=bool(cut))


def _rows(text: str) -> tuple[list[list[str]], str]:
    """The rows to show, and what was left out."""
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
    """The separator that the first lines have most evenly."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]
    return max(DELIMITERS, key=lambda mark: min((line.count(mark) for line in lines), default=0))


def _pretty(text: str) -> Iterator[str]:
    """The tokens of valid JSON, each value on a line of its own."""
    depth = 0
    tokens = TOKEN.findall(text)
    for position, sign in enumerate(tokens):
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        if sign in "{[":
            depth += 1
            yield sign if following in "}]" else sign + _break(depth)
        elif sign in "}]":
            depth -= 1
            opened = tokens[position - 1] in "{["
            yield sign if opened else _break(depth) + sign
        elif sign == ",":
            yield sign + _break(depth)
        else:
            yield ": " if sign == ":" else _readable(sign)


def _break(depth: int) -> str:
    return "\n" + "  " * min(depth, MAX_INDENT)


def _readable(token: str) -> str:
    """A string with its letters as letters; anything else as it is."""
    if "\\" not in token:
        return token
    value = json.loads(token)
    return json.dumps(value, ensure_ascii=SURROGATE.search(value) is not None)
