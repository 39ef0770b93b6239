"""What a profile decides besides its tools: defaults of settings, allowed providers, how a large page is fetched."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ProfileDefaults:
    """The defaults that a profile changes; an empty one changes nothing."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Variable → value, used where the user sets none."""
    dropped_if_set: Mapping[str, str] = field(default_factory=dict)
    """A variable of `settings` → the variable that makes its default unnecessary."""
    allowed_providers: Callable[[Mapping[str, Any]], Collection[str] | None] = lambda _: None
    """The values of all options → the only providers that may be asked; None allows all."""
    cut_text: bool = False
    """Read the beginning of a page that is too large, instead of refusing the page."""

    def beside(self, given: Collection[str]) -> dict[str, object]:
        """The defaults that apply beside the variables that the user sets."""
        return {
            name: value
            for name, value in self.settings.items()
            if self.dropped_if_set.get(name) not in given
        }
