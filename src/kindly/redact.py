"""Secrets never leave: every text on its way out (answer, error, log line) goes through one `Redactor`."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import quote, quote_plus

MASK = "***"
MIN_SECRET_LENGTH = 6
"""Shorter values are not masked: they would tear holes into ordinary text."""


class Secret(Protocol):
    """A value that shows itself only when asked, such as `pydantic.SecretStr`."""

    def get_secret_value(self) -> str:
        """The plain value; called at the moment of sending and kept nowhere."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Redactor:
    """Replaces every known secret, also as URLs, JSON and basic authentication write it, by a mask."""

    _needles: tuple[str, ...]

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Self:
        """A redactor for these values; longer ones first, so that no part of one survives."""
        values = {secret for secret in secrets if len(secret) >= MIN_SECRET_LENGTH}
        needles = {form for value in values for form in _forms(value)}
        return cls(tuple(sorted(needles, key=lambda needle: (-len(needle), needle))))

    def __repr__(self) -> str:
        return f"Redactor({len(self._needles)} needles)"

    def text(self, text: str) -> str:
        """`text` with every secret masked."""
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


def _forms(secret: str) -> Iterator[str]:
    """A secret as it may be spelled on its way through other programs."""
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield b64encode(secret.encode()).decode().rstrip("=")
