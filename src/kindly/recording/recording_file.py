"""A recording: the network answers of a session in a file of JSON lines.

The first line says when it was made and which settings a replay needs. A request is identified by its kind, method,
address and a digest of its body; nothing else of it is stored. Cookies are dropped, and every secret is masked. Answers
to the same request are replayed in their order; the last one repeats.
"""

import base64
import json
import logging
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.errors import SettingsError
from kindly.frozen import frozen
from kindly.redact import Redactor

if TYPE_CHECKING:
    from io import TextIOWrapper

logger = logging.getLogger(__name__)

Json = dict[str, Any]

MARK = "kindly_cassette"
VERSION = 1
DROPPED_HEADERS = frozenset(
    {
        "set-cookie",
        "content-encoding",
        "content-length",
        "transfer-encoding",
        "connection",
        "www-authenticate",
        "proxy-authenticate",
    }
)
"""Private headers, and headers that do not describe the stored bytes."""
NOT_RECORDED = "The recording has no answer for this request: remove the file to record again."


@frozen
class Request:
    """The identity of a request."""

    kind: str
    method: str
    url: str
    digest: str = ""


@frozen
class RecordedAnswer:
    """An answer as it is stored. A failure has status 0 and a text."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    failure: str = ""


class Recording(Protocol):
    """Answers by request: a recorder or a replay."""

    def find(self, request: Request) -> RecordedAnswer | None:
        """The recorded answer; None if the request must be sent."""

    def add(self, request: Request, answer: RecordedAnswer) -> None:
        """Store an answer."""

    def close(self) -> None: ...

    def now(self) -> datetime:
        """The time at which pages are fetched."""


class Recorder:
    """Writes each answer to the file as it arrives."""

    def __init__(
        self,
        path: Path,
        redactor: Redactor,
        settings: Mapping[str, str],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._path = path
        self._redactor = redactor
        self._settings = settings
        self._clock = clock
        self._file: TextIOWrapper | None = None

    def find(self, request: Request) -> None:
        """Always None: every request is sent."""

    def add(self, request: Request, answer: RecordedAnswer) -> None:
        """Append a line.

        Raises:
            SettingsError: the file cannot be written.
        """
        headers = [pair for pair in answer.headers if pair[0].lower() not in DROPPED_HEADERS]
        line: Json = {
            "kind": request.kind,
            "method": request.method,
            "url": request.url,
            "digest": request.digest,
            "status": answer.status,
            "headers": headers,
            "failure": answer.failure,
            **_body_fields(self._masked(answer.body)),
        }
        self._write({name: self._redactor.value(value) for name, value in line.items() if value})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def now(self) -> datetime:
        return self._clock.now()

    def _masked(self, body: bytes) -> bytes:
        return self._redactor.text(body.decode("latin-1")).encode("latin-1")

    def _write(self, line: Json) -> None:
        try:
            if self._file is None:
                self._file = self._path.open("x", encoding="utf-8")
                header = {
                    MARK: VERSION,
                    "recorded_at": self.now().isoformat(),
                    "settings": self._settings,
                }
                self._file.write(json.dumps(self._redactor.value(header)) + "\n")
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise SettingsError(
                f"KINDLY_CASSETTE {self._path} cannot be written: {error.strerror}."
            ) from None


class Replay:
    """Answers from a file, without the network."""

    def __init__(self, path: Path) -> None:
        header, *lines = read_lines(path)
        self._recorded_at = datetime.fromisoformat(header["recorded_at"])
        self._answers: dict[Request, list[RecordedAnswer]] = {}
        for line in lines:
            request = Request(line["kind"], line["method"], line["url"], line.get("digest", ""))
            self._answers.setdefault(request, []).append(_answer(line))

    def find(self, request: Request) -> RecordedAnswer:
        """The next recorded answer; a failure if there is none."""
        answers = self._answers.get(request)
        if not answers:
            logger.warning("request not in the recording", extra={"kind": request.kind})
            return RecordedAnswer(0, failure=NOT_RECORDED)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def add(self, request: Request, answer: RecordedAnswer) -> None:
        """No effect: a replay does not change its file."""

    def close(self) -> None:
        """No effect: the whole file was read when it was opened."""

    def now(self) -> datetime:
        return self._recorded_at


def open_recording(path: Path, redactor: Redactor, settings: Mapping[str, str]) -> Recording:
    """A replay if the file exists, else a recorder that notes the settings."""
    return Replay(path) if path.exists() else Recorder(path, redactor, settings)


def read_header(path: Path) -> Json:
    """The first line of a recording.

    Raises:
        SettingsError: the file cannot be read, or is not a recording.
    """
    return read_lines(path, 1)[0]


def read_lines(path: Path, limit: int | None = None) -> list[Json]:
    """The lines of a recording, or the first `limit` of them.

    Raises:
        SettingsError: the file cannot be read, or is not a recording.
    """
    try:
        with path.open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in islice(file, limit)]
        if lines[0][MARK] != VERSION:
            raise SettingsError(
                f"KINDLY_CASSETTE {path} was recorded by another version of Kindly: record it again."
            )
        datetime.fromisoformat(lines[0]["recorded_at"])
    except OSError as error:
        raise SettingsError(f"KINDLY_CASSETTE {path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, IndexError, TypeError):
        raise SettingsError(
            f"KINDLY_CASSETTE {path} is not a recording: name a file that Kindly recorded, or a new one."
        ) from None
    return lines


def body_digest(redactor: Redactor, body: bytes) -> str:
    """A short hash of a request body. Secrets are masked first, so that another key gives the same digest."""
    if not body:
        return ""
    return sha256(redactor.text(body.decode("latin-1")).encode("latin-1")).hexdigest()[:16]


def _body_fields(body: bytes) -> Json:
    try:
        return {"text": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode("ascii")}


def _answer(line: Json) -> RecordedAnswer:
    body = line.get("text", "").encode() or base64.b64decode(line.get("base64", ""))
    headers = tuple((name, value) for name, value in line.get("headers", ()))
    return RecordedAnswer(line.get("status", 0), headers, body, line.get("failure", ""))
