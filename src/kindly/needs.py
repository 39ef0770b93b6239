"""A setting that a plugin declares. Settings, docs and the vendors' manifests are derived from it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Need:
    """One variable of a plugin."""

    name: str
    kind: Literal["secret", "text", "addresses", "flag"]
    about: str
    """For the settings table: a sentence."""
    title: str = ""
    """A label for forms; empty: the plugin's name and "key"."""
    example: str = ""
