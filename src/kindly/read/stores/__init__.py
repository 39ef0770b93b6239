"""The catalogue of stores: where the library of read pages can be. The first one is the default.

A store is a module or a package in this folder with the constant `SPEC`, and its line in `STORES`.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from kindly.errors import StoreUnavailable
from kindly.read.specs import StoreSpec
from kindly.read.stores import duckdb, memory, postgres, sqlite
from kindly.version import SERVER_NAME

if TYPE_CHECKING:
    from kindly.read.store import Store, StoreSettings

STORES: tuple[StoreSpec, ...] = (
    sqlite.SPEC,
    duckdb.SPEC,
    postgres.SPEC,
    memory.SPEC,
)
PERSISTENT = tuple(spec for spec in STORES if spec.is_persistent)
IN_MEMORY = memory.SPEC
"""Used where nothing may be kept."""


def store_for(value: str, stores: tuple[StoreSpec, ...] = STORES) -> StoreSpec | None:
    """The store that a value of `KINDLY_STORE` selects; None if it selects none."""
    return next((spec for spec in stores if spec.matches(value)), None)


def choices(stores: tuple[StoreSpec, ...] = STORES) -> str:
    """What `KINDLY_STORE` can be, as text: names first, then addresses."""
    *others, last = [spec.choice for spec in sorted(stores, key=lambda spec: bool(spec.schemes))]
    return f"{', '.join(others)} or {last}" if others else last


def open_store(
    name: str, settings: "StoreSettings", stores: tuple[StoreSpec, ...] = STORES
) -> "Store":
    """Build the store of this name; it connects at first use. Without a data folder, a store with a file is in memory.

    Raises:
        StoreUnavailable: there is no such store, or its driver is not installed.
    """
    spec = next((one for one in stores if one.name == name), None)
    if spec is None:
        names = ", ".join(spec.name for spec in stores)
        raise StoreUnavailable(f"There is no store named {name}. Stores: {names}.")
    if spec.module and find_spec(spec.module) is None:
        raise StoreUnavailable(
            f"The store {name} needs a driver that is not installed: "
            f"pip install '{SERVER_NAME}[{spec.extra}]'."
        )
    in_memory = spec.file and settings.data_dir is None
    return (IN_MEMORY if in_memory else spec).open(settings)
