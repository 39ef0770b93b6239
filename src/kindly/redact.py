"""Masks secrets: every answer, error and log line passes through one `Redactor`."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import quote, quote_plus

MASK = "***"
MIN_SECRET_LENGTH = 6
"""Shorter values are not masked: they would match ordinary text."""


class Secret(Protocol):
    """A value that is hidden in logs and representations, such as `pydantic.SecretStr`."""

    def get_secret_value(self) -> str:
        """The plain value; called when it is sent, and not stored."""
        ...


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


def _encodings(secret: str) -> Iterator[str]:
    """The encodings of a secret that other programs may use."""
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield b64encode(secret.encode()).decode().rstrip("=")
