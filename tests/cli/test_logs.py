"""Log lines as JSON and as text, with secrets masked in both."""

import json
import logging
import os
import sys
from collections.abc import Iterator

import pytest

from kindly.cli.logs import QUIET, BackgroundHandler, Format, JsonLines, TextLines, configure
from kindly.redact import Redactor

CANARY = "canary-log-secret"
REDACTOR = Redactor.of([CANARY])


def record(message: str = "call", **fields: object) -> logging.LogRecord:
    made = logging.LogRecord("kindly.server", logging.INFO, "file.py", 1, message, (), None)
    made.created = 0.0
    vars(made).update(fields)
    return made


@pytest.fixture
def untouched() -> Iterator[None]:
    """The root logger as it was."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    levels = {name: logging.getLogger(name).level for name in QUIET}
    yield
    root.handlers[:], root.level = handlers, level
    for name, kept in levels.items():
        logging.getLogger(name).setLevel(kept)


def test_a_json_line_has_the_fields() -> None:
    line = JsonLines(REDACTOR).format(record(tool="recall", took_ms=12))
    assert json.loads(line) == {
        "time": "1970-01-01T00:00:00.000+00:00",
        "level": "info",
        "logger": "kindly.server",
        "event": "call",
        "tool": "recall",
        "took_ms": 12,
    }


def test_a_text_line_has_the_same_fields() -> None:
    line = TextLines(REDACTOR).format(record("two\nlines", tool="recall", took_ms=12))
    assert line == '1970-01-01T00:00:00.000+00:00 info two lines tool="recall" took_ms=12'


@pytest.mark.parametrize("lines", [JsonLines, TextLines])
def test_secrets_are_masked_in_message_fields_and_traceback(
    lines: type[JsonLines | TextLines],
) -> None:
    made = record(f"with {CANARY}", key=CANARY, odd=object())
    made.exc_info = (RuntimeError, RuntimeError(CANARY), None)
    line = lines(REDACTOR).format(made)
    assert CANARY not in line
    assert "RuntimeError" in line
    assert line.count("***") == 3


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(("form", "kind"), [("json", JsonLines), ("text", TextLines)])
def test_logs_go_to_standard_error_in_the_configured_format(form: Format, kind: type) -> None:
    configure("info", REDACTOR, form)
    (handler,) = logging.getLogger().handlers
    assert isinstance(handler.formatter, kind)
    assert isinstance(handler, logging.StreamHandler)
    assert handler.stream is sys.stderr
    assert logging.getLogger("httpx2").level == logging.WARNING


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_lines_are_written_in_the_background_in_order(pipe: tuple[int, int]) -> None:
    handler = BackgroundHandler(pipe[1])
    handler.setFormatter(JsonLines(REDACTOR))
    for number in range(20):
        handler.emit(record(f"{number} {CANARY}"))
    handler.close()
    lines = os.read(pipe[0], 65_536).decode().splitlines()
    assert [json.loads(line)["event"] for line in lines] == [f"{n} ***" for n in range(20)]


def test_lines_that_are_not_read_are_dropped_and_counted(pipe: tuple[int, int]) -> None:
    handler = BackgroundHandler(pipe[1], most=4)
    handler.setFormatter(JsonLines(REDACTOR))
    long = record("x" * 70_000)  # more than a pipe holds
    handler.emit(long)
    read = os.read(pipe[0], 1)  # now the thread writes this one
    for _ in range(99):
        handler.emit(long)
    while read.count(b"\n") < 1 + 4 + 1:
        read += os.read(pipe[0], 65_536)
    handler.close()
    told = json.loads(read.splitlines()[1])
    assert (told["level"], told["lines"]) == ("warning", 95)
    assert read.count(b"dropped") == 1


def test_a_line_that_cannot_be_formatted_is_counted(pipe: tuple[int, int]) -> None:
    handler = BackgroundHandler(pipe[1])
    handler.setFormatter(JsonLines(REDACTOR))
    broken = record("%d apples")
    broken.args = ("many",)
    handler.emit(broken)
    handler.emit(record("fine"))
    handler.close()
    counted, fine = (json.loads(line) for line in os.read(pipe[0], 65_536).splitlines())
    assert (counted["lines"], fine["event"]) == (1, "fine")
