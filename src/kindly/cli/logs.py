"""Logs on standard error, with secrets masked: one JSON object per line, or lines of text."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from kindly.redact import Redactor

QUIET = (
    "httpx2",
    "httpcore2",
    "hpack",
    "h2",
    "urllib3",
    "mcp",
    "uvicorn",
    "sse_starlette",
    "opentelemetry",
)
"""Libraries that log whole URLs or headers: only warnings and errors of these are written."""

STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}

Format = Literal["json", "text"]


class JsonLines(logging.Formatter):
    """A record as one line of JSON. Fields and traceback are redacted."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= _fields(record)
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(self._redactor.value(line), ensure_ascii=False, default=_masked_repr)


class TextLines(logging.Formatter):
    """A record as `time level event name=value …`, with its traceback below. The text is redacted."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        fields = [f"{name}={_shown(value)}" for name, value in _fields(record).items()]
        message = record.getMessage().replace("\r", " ").replace("\n", " ")
        line = " ".join([_time(record), record.levelname.lower(), message, *fields])
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return self._redactor.text(line)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """The `extra` fields of a record."""
    return {key: value for key, value in record.__dict__.items() if key not in STANDARD}


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_masked_repr)


def _masked_repr(value: object) -> str:
    return type(value).__name__


def configure(level: str, redactor: Redactor, form: Format = "json") -> None:
    """Send all logs to standard error, and limit noisy libraries to warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(redactor) if form == "json" else TextLines(redactor))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
