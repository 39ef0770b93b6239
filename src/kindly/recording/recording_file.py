"""A cassette: the network answers of a research session in a file.

One JSON object a line, the first of which says when it was made and which settings it needs. Requests are told apart by
method, address and a digest of what was sent; of a request nothing else is kept, of an answer no cookie, and in both
every secret is masked. A request that was made several times is answered in the same order, the last answer over and
over. What a request is for, and what its answer means, is others' business.
"""

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kindly.errors import SettingsError
from kindly.redact import Redactor

if TYPE_CHECKING:
    from io import TextIOWrapper

logger = logging.getLogger(__name__)

Json = dict[str, Any]

MARK = "kindly_cassette"
VERSION = 1
LEFT_OUT = frozenset(
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
"""Headers that are private, or no longer true of the bytes that are kept."""
ABSENT = (
    "The cassette holds no answer for this request: record it again, with the file out of the way."
)


@dataclass(frozen=True, slots=True)
class Request:
    """What tells one request from another."""

    kind: str
    method: str
    url: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer as it is kept; a failure has no status, but says what happened."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    failure: str = ""


class Recording(Protocol):
    """Answers by request."""

    def find(self, request: Request) -> RecordedAnswer | None:
        """What the request was answered; None if that must be found out."""

    def keep(self, request: Request, taken: RecordedAnswer) -> None:
        """Note an answer."""

    def close(self) -> None:
        """Finish the file."""

    def now(self) -> datetime:
        """The time that pages are fetched at."""


class Recorder:
    """Writes down each answer as it comes."""

    def __init__(self, path: Path, redactor: Redactor, needs: Mapping[str, str]) -> None:
        self._path = path
        self._redactor = redactor
        self._needs = needs
        self._file: TextIOWrapper | None = None

    def find(self, request: Request) -> None:
        """Nothing: the network is asked."""

    def keep(self, request: Request, taken: RecordedAnswer) -> None:
        """Add a line.

        Raises:
            SettingsError: the file cannot be written.
        """
        headers = [pair for pair in taken.headers if pair[0].lower() not in LEFT_OUT]
        line: Json = {
            "kind": request.kind,
            "method": request.method,
            "url": request.url,
            "digest": request.digest,
            "status": taken.status,
            "headers": headers,
            "failure": taken.failure,
            **_body(self._masked(taken.body)),
        }
        self._write({name: self._redactor.value(value) for name, value in line.items() if value})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def now(self) -> datetime:
        """This moment."""
        return datetime.now(UTC)

    def _masked(self, body: bytes) -> bytes:
        return self._redactor.text(body.decode("latin-1")).encode("latin-1")

    def _write(self, line: Json) -> None:
        try:
            if self._file is None:
                self._file = self._path.open("x", encoding="utf-8")
                head = {
                    MARK: VERSION,
                    "recorded_at": self.now().isoformat(),
                    "settings": self._needs,
                }
                self._file.write(json.dumps(self._redactor.value(head)) + "\n")
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise SettingsError(
                f"KINDLY_CASSETTE {self._path} cannot be written: {error.strerror}."
            ) from None


class Player:
    """Answers from a file, and only from there."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self._redactor = redactor
        head, *lines = read(path)
        self._recorded_at = datetime.fromisoformat(head["recorded_at"])
        self._answers: dict[Request, list[RecordedAnswer]] = {}
        for line in lines:
            asked = Request(line["kind"], line["method"], line["url"], line.get("digest", ""))
            self._answers.setdefault(asked, []).append(_taken(line))

    def find(self, request: Request) -> RecordedAnswer:
        """The next answer that was recorded."""
        answers = self._answers.get(request)
        if not answers:
            logger.warning("the cassette holds no answer", extra={"kind": request.kind})
            return RecordedAnswer(0, failure=ABSENT)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def keep(self, request: Request, taken: RecordedAnswer) -> None:
        """Nothing: it is kept already."""

    def close(self) -> None:
        """Nothing is open."""

    def now(self) -> datetime:
        """When the session was recorded."""
        return self._recorded_at


def head(path: Path) -> Json:
    """What a cassette says of itself.

    Raises:
        SettingsError: the file cannot be read, or is none.
    """
    return read(path, 1)[0]


def read(path: Path, most: int | None = None) -> list[Json]:
    """The lines of a cassette, or the first of them.

    Raises:
        SettingsError: the file cannot be read, or is none.
    """
    try:
        with path.open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in islice(file, most)]
        if lines[0][MARK] != VERSION:
            raise SettingsError(f"KINDLY_CASSETTE {path} is of another version of Kindly.")
        datetime.fromisoformat(lines[0]["recorded_at"])
    except OSError as error:
        raise SettingsError(f"KINDLY_CASSETTE {path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, IndexError, TypeError):
        raise SettingsError(
            f"KINDLY_CASSETTE {path} is not a cassette: name a file that Kindly recorded, or a new one."
        ) from None
    return lines


def open_tape(path: Path, redactor: Redactor, needs: Mapping[str, str]) -> Recording:
    """A player if the file is there, else a recorder."""
    return Player(path, redactor) if path.exists() else Recorder(path, redactor, needs)


def digest(redactor: Redactor, body: bytes) -> str:
    """What stands for a body that was sent; secrets in it make no difference."""
    if not body:
        return ""
    return sha256(redactor.text(body.decode("latin-1")).encode("latin-1")).hexdigest()[:16]


def _body(body: bytes) -> Json:
    try:
        return {"text": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode("ascii")}


def _taken(line: Json) -> RecordedAnswer:
    body = line.get("text", "").encode() or base64.b64decode(line.get("base64", ""))
    headers = tuple((name, value) for name, value in line.get("headers", ()))
    return RecordedAnswer(line.get("status", 0), headers, body, line.get("failure", ""))
