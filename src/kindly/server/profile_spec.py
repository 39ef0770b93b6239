"""What a profile plugin declares: all that settings, help and docs know about it before it is chosen.

Specs are read at every start, so this module and the specs import neither settings nor anything heavy; `load` does.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kindly.frozen import frozen
from kindly.plugin_settings import Option

if TYPE_CHECKING:
    from kindly.server.tool import Profile


@frozen
class ProfileSpec:
    """A profile plugin. `KINDLY_PROFILE` selects it by its name."""

    name: str
    load: "Callable[[], Profile]"
    """Imports its tools."""
    options: tuple[Option[Any], ...] = ()
    """Settings that only it uses."""
    is_addition: bool = False
    """Whether it can be added to another profile, as in `kindly,library`: it changes no default."""
    takes_additions: bool = False
    """Whether another profile can be added: not where a contract names all tools."""
