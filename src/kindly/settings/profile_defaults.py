"""What a profile decides besides its tools: defaults of settings, allowed providers, how a large page is fetched.

Each profile declares a `ProfileDefaults`; the catalogue of profiles is the only part of `server` that settings know.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kindly.search.providers import PROVIDERS
from kindly.server.profiles import DEFAULT_PROFILE, PROFILE_NAMES, load_profile

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILE_NAMES",
    "ProfileDefaults",
    "ProfileName",
    "preferred_first",
    "profile_defaults",
]

if TYPE_CHECKING:
    from kindly.settings import Settings

    ProfileName = str
else:
    ProfileName = Literal[PROFILE_NAMES]


@dataclass(frozen=True, slots=True)
class ProfileDefaults:
    """The defaults that a profile changes; an empty one changes nothing."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Variable → value, used where the user sets none."""
    dropped_if_set: Mapping[str, str] = field(default_factory=dict)
    """A variable of `settings` → the variable that makes its default unnecessary."""
    allowed_providers: "Callable[[Settings], Collection[str] | None]" = lambda _: None
    """The only providers that may be asked; None allows all."""
    cut_text: bool = False
    """Read the beginning of a page that is too large, instead of refusing the page."""
    queues_searches: bool = False
    """Searches beyond the rate limit wait until the call's deadline, not only the search's; so does one HTTP 429."""

    def beside(self, given: Collection[str]) -> dict[str, object]:
        """The defaults that apply beside the variables that the user sets."""
        return {
            name: value
            for name, value in self.settings.items()
            if self.dropped_if_set.get(name) not in given
        }


def profile_defaults(name: str) -> ProfileDefaults:
    """The defaults of the profile `name`.

    The default profile changes nothing, so its module is not imported for this.
    """
    return ProfileDefaults() if name == DEFAULT_PROFILE else load_profile(name).defaults


def preferred_first(name: str) -> list[str]:
    """All providers, this one before the others."""
    return [name, *(spec.name for spec in PROVIDERS if spec.name != name)]
