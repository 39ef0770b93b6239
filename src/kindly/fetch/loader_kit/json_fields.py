"""Typed access to a decoded JSON answer. Pure."""

from collections.abc import Mapping
from typing import Self

from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.frozen import frozen


@frozen
class JsonFields:
    """A JSON object. Optional fields that are missing, null or of another type read as empty."""

    values: Mapping[str, object]

    @classmethod
    def of(cls, value: object) -> Self:
        """The object itself; raises `NotLoaded` if it is not one."""
        if not isinstance(value, dict):
            raise _unexpected()
        return cls(value)

    def text(self, name: str) -> str:
        """A string, or an empty one."""
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def needed(self, name: str) -> str:
        """A required string; raises `NotLoaded` if it is missing."""
        if not (text := self.text(name)):
            raise _unexpected()
        return text

    def number(self, name: str) -> int:
        """A whole number, or 0."""
        value = self.values.get(name)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value if isinstance(value, int) else 0

    def flag(self, name: str) -> bool:
        """Whether it is true."""
        return self.values.get(name) is True

    def part(self, name: str) -> "JsonFields":
        """An object, or an empty one."""
        value = self.values.get(name)
        return JsonFields(value if isinstance(value, dict) else {})

    def parts(self, name: str) -> "list[JsonFields]":
        """The objects of a list, or none."""
        value = self.values.get(name)
        return objects(value) if isinstance(value, list) else []

    def texts(self, name: str) -> list[str]:
        """The strings of a list, or none."""
        value = self.values.get(name)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def objects(value: object) -> list[JsonFields]:
    """The objects of a list; raises `NotLoaded` if it is not a list."""
    if not isinstance(value, list):
        raise _unexpected()
    return [JsonFields(item) for item in value if isinstance(item, dict)]


def _unexpected() -> NotLoaded:
    return NotLoaded("The source's answer is not in the documented format.", url="")
