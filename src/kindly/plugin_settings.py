"""Settings that plugins declare: what they need, options with defaults, and defaults that a profile changes.

Settings, docs and the vendors' manifests are derived from them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from typing import Any, Generic, Literal, TypeVar

from kindly.frozen import frozen

T = TypeVar("T")


@frozen
class Need:
    """A variable without which the plugin is not used."""

    name: str
    kind: Literal["secret", "text", "addresses", "flag"]
    about: str
    """For the settings table: a sentence."""
    title: str = ""
    """A label for forms; empty: the plugin's name and "key"."""
    example: str = ""


@frozen
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
    def field_name(self) -> str:
        """The name of the field in the settings."""
        return self.name.lower().removeprefix("kindly_")

    def of(self, values: Mapping[str, Any]) -> T:
        """Its value among the values of all options, by variable."""
        value: T = values.get(self.name, self.default)
        return value


@frozen
class ProfileDefaults:
    """The defaults that a profile changes; an empty one changes nothing."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Variable → value, used where the user sets none."""
    dropped_if_set: Mapping[str, str] = field(default_factory=dict)
    """A variable of `settings` → the variable that makes its default unnecessary."""
    allowed_providers: Callable[[Mapping[str, Any]], Collection[str] | None] = lambda _: None
    """The values of all options → the only providers that may be asked; None allows all."""
    queues_searches: bool = False
    """Searches beyond the rate limit wait until the call's deadline, not only the search's; so does one HTTP 429."""

    def beside(self, given: Collection[str]) -> dict[str, object]:
        """The defaults that apply beside the variables that the user sets."""
        return {
            name: value
            for name, value in self.settings.items()
            if self.dropped_if_set.get(name) not in given
        }
