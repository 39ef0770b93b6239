"""Masks secrets: every answer, error and log line passes through one `Redactor`.

Text is masked before it is shortened: the beginning of a secret at the end of a cut text would not be found.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Protocol, Self, TypeVar
from urllib.parse import quote, quote_plus

from kindly.frozen import frozen

MASK = "***"
NEXT_ADDRESS = re.compile(r",(?=\s*[A-Za-z][A-Za-z0-9+.-]*://)")
"""A comma before another address; a password may have one too."""
MIN_SECRET_LENGTH = 6
"""Shorter values are not masked: they would match ordinary text."""


T = TypeVar("T")


class Secret(Protocol):
    """A value that is hidden in logs and representations."""

    def get_secret_value(self) -> str:
        """The plain value; called when it is sent, and not stored."""
        ...


@frozen
class HiddenText:
    """A secret of the settings: false if it is empty."""

    _text: str = field(repr=False)

    def get_secret_value(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)


@dataclass(frozen=True, slots=True, repr=False)
class Redactor:
    """Replaces every known secret by a mask, also in its URL, JSON and base64 encodings."""

    _needles: tuple[str, ...]

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Self:
        """A redactor for these values. Longer ones are replaced first, so that no part of one remains."""
        values = {secret for secret in secrets if len(secret) >= MIN_SECRET_LENGTH}
        needles = {encoding for value in values for encoding in _encodings(value)}
        return cls(tuple(sorted(needles, key=lambda needle: (-len(needle), needle))))

    def __repr__(self) -> str:
        return f"Redactor({len(self._needles)} needles)"

    def text(self, text: str) -> str:
        for needle in self._needles:
            if needle in text:
                text = text.replace(needle, MASK)
        return text

    def value(self, value: object) -> object:
        """A JSON value with every string in it masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def record(self, record: T) -> T:
        """A dataclass, mapping, list or tuple with every string in it masked; itself if there is nothing to mask."""
        return self._record(record) if self._needles else record

    def _record(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if is_dataclass(value) and not isinstance(value, type):
            parts = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
            masked = {name: self._record(part) for name, part in parts.items()}
            changed = {name: part for name, part in masked.items() if part is not parts[name]}
            return replace(value, **changed) if changed else value
        if isinstance(value, Mapping):
            pairs = {self._record(key): self._record(item) for key, item in value.items()}
            same = all(value.get(key) is item for key, item in pairs.items())
            return value if same and len(pairs) == len(value) else pairs
        if isinstance(value, list | tuple):
            items = [self._record(item) for item in value]
            same = all(one is other for one, other in zip(items, value, strict=True))
            return value if same else type(value)(items)
        return value


def without_credentials(addresses: str) -> str:
    """Addresses, with commas between them, without user and password, however they are written."""
    return ",".join(map(_without_credentials, NEXT_ADDRESS.split(addresses)))


def _without_credentials(address: str) -> str:
    before, at, host = address.rpartition("@")
    if not at:
        return address
    scheme, mark, _ = before.partition("://")
    return f"{scheme + mark if mark else ''}{MASK}@{host}"


def _encodings(secret: str) -> Iterator[str]:
    """The encodings of a secret that other programs may use."""
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield b64encode(secret.encode()).decode().rstrip("=")
