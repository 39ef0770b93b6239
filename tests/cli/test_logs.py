"""Log lines as JSON and as text, with secrets masked in both."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from kindly.cli.logs import QUIET, Format, JsonLines, TextLines, configure
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
