"""The first answers over stdio, before the SDK is imported: that import is most of the time and CPU of a start.

`initialize`, `server/discover`, `ping` and `tools/list` have fixed answers. `python -m tools.early_answers` writes what
the SDK's server answers to a file beside each profile, and they are sent from there as long as each message has exactly
a known shape. At any other message, and after a moment of silence, the stream is handed over: the SDK's server reads
every byte again from the first, and what it answers to the requests that are answered already is dropped. It has then
seen the whole conversation, and everything else in the protocol is its own work.
"""

import io
import json
import os
import select
from typing import Any, NamedTuple

Json = dict[str, Any]

SILENCE_S = (1.0, 0.1)
"""After how long a silence the SDK is imported, so that the first call need not wait for that: before and after
`tools/list`, as most clients then say nothing more until a model calls a tool."""
MAX_LINE = 16_384
MAX_MESSAGES = 32
READ_SIZE = 65_536

VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
ABILITIES = "io.modelcontextprotocol/clientCapabilities"
OPENING_KEYS = {"protocolVersion", "capabilities", "clientInfo"}
CLIENT_KEYS = {"name", "version", "title", "description", "websiteUrl"}
ABILITY_KEYS = {"experimental", "extensions", "roots", "sampling", "elicitation"}
ROOTS: tuple[Json, ...] = ({}, {"listChanged": True}, {"listChanged": False})


class Answered(NamedTuple):
    """A request and the result that was sent; of a notification both are None."""

    request_id: int | str | None = None
    result: Json | None = None


class EarlyAnswers:
    """One client's conversation up to the hand-over."""

    def __init__(
        self, answers: Json, source: int, sink: int, silence_s: tuple[float, float] = SILENCE_S
    ) -> None:
        """`answers`: by era, protocol version and method. `source` and `sink`: file descriptors of the client."""
        self._answers = answers
        self._source, self._sink = source, sink
        self._version: str | None = None
        self._silence_s, self._listed_silence_s = silence_s
        self._read = b""
        self._taken = 0
        self.answered: list[Answered] = []

    def serve(self) -> bool:
        """Answer until the stream must be handed over; False if the client left with everything answered."""
        while len(self.answered) < MAX_MESSAGES:
            end = self._read.find(b"\n", self._taken)
            if end >= 0:
                answered = self._answer(self._read[self._taken : end])
                if answered is None:
                    return True
                self.answered.append(answered)
                self._taken = end + 1
            elif not self._reads_on():
                return True
            elif chunk := os.read(self._source, READ_SIZE):
                self._read += chunk
            else:
                return self._taken < len(self._read)
        return True

    def _reads_on(self) -> bool:
        """Wait for the client; False if it is silent, or if its line is too long."""
        is_long = len(self._read) - self._taken > MAX_LINE
        return not is_long and bool(select.select([self._source], [], [], self._silence_s)[0])

    def everything(self) -> io.TextIOWrapper:
        """All that the client sent and will send, decoded as the SDK does."""
        resumed = io.BufferedReader(Resumed(self._read, self._source))
        return io.TextIOWrapper(resumed, encoding="utf-8", errors="replace")

    def _answer(self, line: bytes) -> Answered | None:
        """Send the answer to a message, if it needs one; None if the SDK must judge the message."""
        if (message := parsed(line)) is None:
            return None
        request_id, method, params = message
        if request_id is None:
            is_expected = self._version in self._answers["handshake"] and not params
            return Answered() if is_expected and method == "notifications/initialized" else None
        if (found := self._result(method, params)) is None:
            return None
        version, result = found
        answer = {"jsonrpc": "2.0", "id": request_id, "result": result}
        data = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._sink, data) :]
        except OSError:
            return None
        self._version = version
        self._silence_s = self._listed_silence_s if method == "tools/list" else self._silence_s
        return Answered(request_id, result)

    def _result(self, method: str, params: Json) -> tuple[str, Json] | None:
        """The protocol version of a request and its result."""
        era, version = "handshake", self._version
        if method == "initialize":
            era, version = "handshake", opening_version(params) if version is None else None
        elif params:
            era, version = "envelope", envelope_version(params)
            if self._version not in (None, version):
                return None
        result = self._answers[era].get(version, {}).get(method)
        return None if result is None or version is None else (version, result)


class Resumed(io.RawIOBase):
    """Bytes that were read before, and then those of a file descriptor."""

    def __init__(self, first: bytes, source: int) -> None:
        self._first, self._source = first, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        data, self._first = self._first[:size], self._first[size:]
        data = data or os.read(self._source, size)
        buffer[: len(data)] = data
        return len(data)


def parsed(line: bytes) -> tuple[int | str | None, str, Json] | None:
    """Id, method and params of a message without any peculiarity; None for any other."""
    if len(line) > MAX_LINE or b"\\" in line or b"\r" in line:
        return None
    try:
        message = json.loads(line.decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not message.keys() <= {"jsonrpc", "id", "method", "params"}:
        return None
    request_id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    is_known = request_id is None and "id" not in message
    is_known |= isinstance(request_id, str) or (type(request_id) is int and abs(request_id) < 2**53)
    if not is_known or message.get("jsonrpc") != "2.0":
        return None
    if not isinstance(method, str) or not isinstance(params, dict):
        return None
    return request_id, method, params


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def opening_version(params: Json) -> str | None:
    """The version that an `initialize` asks for, if the rest of it is certainly valid."""
    if params.keys() != OPENING_KEYS or not isinstance(params["protocolVersion"], str):
        return None
    is_valid = _is_client(params["clientInfo"]) and _is_abilities(params["capabilities"])
    return params["protocolVersion"] if is_valid else None


def envelope_version(params: Json) -> str | None:
    """The version in a request's envelope, if there is nothing else in its params and it is certainly valid."""
    meta = params.get("_meta")
    if len(params) > 1 or not isinstance(meta, dict) or not isinstance(meta.get(VERSION), str):
        return None
    if not {VERSION, ABILITIES} <= meta.keys() <= {VERSION, ABILITIES, CLIENT}:
        return None
    is_valid = _is_abilities(meta[ABILITIES]) and (CLIENT not in meta or _is_client(meta[CLIENT]))
    return str(meta[VERSION]) if is_valid else None


def _is_client(value: object) -> bool:
    if not isinstance(value, dict) or not {"name", "version"} <= value.keys() <= CLIENT_KEYS:
        return False
    return all(isinstance(item, str) for item in value.values())


def _is_abilities(value: object) -> bool:
    if not isinstance(value, dict) or not value.keys() <= ABILITY_KEYS:
        return False
    others = {name: item for name, item in value.items() if name != "roots"}
    return value.get("roots", {}) in ROOTS and _is_plain(others)


def _is_plain(value: object) -> bool:
    """Whether it is an object with nothing in it but such objects."""
    return isinstance(value, dict) and all(map(_is_plain, value.values()))
