"""Logs: one JSON object a line on standard error, with every secret masked."""

import json
import logging
import sys
from datetime import UTC, datetime

from kindly.redact import Redactor

QUIET = ("httpx2", "httpcore2", "hpack", "h2", "urllib3", "mcp", "uvicorn", "sse_starlette")
"""Libraries that would log whole addresses or headers: warnings and worse only, at any level of ours."""

STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """A record as one line of JSON; the finished line goes through the redactor, tracebacks included."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {key: value for key, value in record.__dict__.items() if key not in STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(self._redactor.value(line), ensure_ascii=False, default=_masked_repr)


def _masked_repr(value: object) -> str:
    return type(value).__name__


def configure(level: str, redactor: Redactor) -> None:
    """Send all logs to standard error, and keep chatty libraries quiet."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(redactor))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
