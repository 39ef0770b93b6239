"""Settings that plugins declare. Settings, docs and the vendors' manifests are derived from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Need:
    """A variable without which the plugin is not used."""

    name: str
    kind: Literal["secret", "text", "addresses", "flag"]
    about: str
    """For the settings table: a sentence."""
    title: str = ""
    """A label for forms; empty: the plugin's name and "key"."""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    """A variable with a default; the value is checked at start."""

    name: str
    kind: Literal["secret", "text", "address", "flag", "integer", "number", "choice"]
    about: str
    """For the settings table: a sentence."""
    default: T
    """None: not set."""
    low: int | None = None
    """The smallest number, or the smallest length of a text."""
    high: int | None = None
    """The largest number, or the largest length of a text."""
    choices: tuple[str, ...] = ()
    """All values of a choice."""

    @property
    def field(self) -> str:
        """The name of the field in the settings."""
        return self.name.lower().removeprefix("kindly_")

    def of(self, values: Mapping[str, Any]) -> T:
        """Its value among the values of all options, by variable."""
        value: T = values.get(self.name, self.default)
        return value
