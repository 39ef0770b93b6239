"""What a store plugin and an embedder plugin declare: all that settings, `doctor`, help and docs know about them.

Specs are read at every start, so this module and the specs import nothing heavy; `open` does.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kindly.frozen import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from kindly.plugin_settings import Option
    from kindly.read.embedder import Embedder, EmbedderSettings
    from kindly.read.store import Store, StoreSettings
    from kindly.storage.file_check import FileHealth
    from kindly.storage.state import State
    from kindly.telemetry.warn_once import WarnOnce


@frozen
class StoreSpec:
    """A store plugin. `KINDLY_STORE` selects it by its name or, if it has `schemes`, by a URL of such a scheme."""

    name: str
    open: "Callable[[StoreSettings], Store]"
    """Builds the store; it connects at first use."""
    schemes: tuple[str, ...] = ()
    """URL schemes of a database server that any number of Kindly servers share; the first one is documented."""
    file: str = ""
    """The database file, relative to `DATA_DIR`; empty if the store keeps none."""
    module: str = ""
    """The driver that must be importable; empty if none."""
    extra: str = ""
    """The extra that installs the driver."""
    check_file: "Callable[[Path], FileHealth] | None" = None
    """How `doctor` checks the file without changing it."""
    search_state: "Callable[[str, WarnOnce | None], State] | None" = None
    """Opens the state of search (statistics, limits, health) in the same database, so that servers share it."""

    @property
    def is_persistent(self) -> bool:
        """Whether pages survive a restart."""
        return bool(self.file or self.schemes)

    @property
    def choice(self) -> str:
        """What to write into `KINDLY_STORE`, for help and messages."""
        return f"a {self.schemes[0]}:// address" if self.schemes else self.name

    def matches(self, value: str) -> bool:
        """Whether this value of `KINDLY_STORE` selects it."""
        if self.schemes:
            return value.startswith(tuple(f"{scheme}://" for scheme in self.schemes))
        return value == self.name


@frozen
class EmbedderSpec:
    """An embedder plugin. It is used if its first option is set; the one without options is the default."""

    name: str
    label: str
    """Its name in sentences."""
    open: "Callable[[EmbedderSettings], Embedder]"
    model: "Callable[[EmbedderSettings], str]"
    """The name of its model, without opening it."""
    fix: str
    """What to do if it fails, for `doctor`."""
    options: "tuple[Option[Any], ...]" = ()
    """Its settings; the first one selects it."""
    cosine_threshold: float = 0.72
    """The cosine from which a chunk is similar to a question, unless `SIMILARITY_THRESHOLD` is set."""
    is_remote: bool = False
    """Whether it needs the API client, and `doctor` may call it only with `--live`."""

    def is_selected(self, values: Mapping[str, Any]) -> bool:
        """Whether these values of options select it."""
        return not self.options or bool(self.options[0].of(values))
