"""Logs on standard error, with secrets masked: one JSON object per line, or lines of text."""

import json
import logging
import os
import queue
import sys
import threading
from contextlib import suppress
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

MAX_WAITING = 1_000
"""Lines that wait for a slow reader of standard error."""
CLOSE_S = 1.0
"""How long the lines in the queue are waited for at exit."""


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


class BackgroundHandler(logging.Handler):
    """Writes lines to a file descriptor in a thread, so that an unread pipe never blocks the program.

    Lines that do not fit the queue are dropped; the next line that is written says how many. The descriptor is written
    to directly: at exit Python would wait for a stream whose lock a blocked thread holds.
    """

    def __init__(self, descriptor: int, most: int = MAX_WAITING) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines: queue.Queue[str | None] = queue.Queue(most)
        self._dropped = 0
        self._thread = threading.Thread(target=self._run, name="kindly-logs", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line, or drop it."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1
        except Exception:  # noqa: BLE001 - like every handler: logging must not break the program
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Count a line that cannot be formatted; standard error must not be written to here."""
        self._dropped += 1

    def close(self) -> None:
        """Wait a moment for the lines in the queue."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(CLOSE_S)
        super().close()

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            with suppress(OSError):
                if self._dropped:
                    dropped, self._dropped = self._dropped, 0
                    self._write(self.format(_dropped_record(dropped)))
                self._write(line)

    def _write(self, line: str) -> None:
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._descriptor, data) :]


def _dropped_record(count: int) -> logging.LogRecord:
    return logging.makeLogRecord(
        {
            "name": __name__,
            "levelno": logging.WARNING,
            "levelname": "WARNING",
            "msg": "log lines were dropped: standard error was not read",
            "lines": count,
        }
    )


def configure(
    level: str, redactor: Redactor, form: Format = "json", *, background: bool = False
) -> None:
    """Send all logs to standard error, and limit noisy libraries to warnings.

    `background`: in a thread, for a server, whose standard error may be a pipe that is not read.
    """
    handler = _background_handler() if background else None
    handler = handler or logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(redactor) if form == "json" else TextLines(redactor))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _background_handler() -> logging.Handler | None:
    """A handler in a thread, if standard error is a file descriptor."""
    try:
        return BackgroundHandler(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):
        return None
