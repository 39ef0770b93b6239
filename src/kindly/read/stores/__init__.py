"""The stores: where the library may be kept, and how one is opened by name."""

from importlib.util import find_spec

from kindly.errors import StoreUnavailable
from kindly.read.store import Store, StoreSettings, StoreSpec
from kindly.read.stores.duckdb.store import STORE as DUCKDB
from kindly.read.stores.memory import STORE as MEMORY
from kindly.read.stores.postgres.store import STORE as POSTGRES
from kindly.read.stores.sqlite.store import STORE as SQLITE

STORES: tuple[StoreSpec, ...] = (SQLITE, DUCKDB, POSTGRES, MEMORY)
PACKAGE = "kindly-web-search-mcp-server"


def open_store(name: str, settings: StoreSettings, stores: tuple[StoreSpec, ...] = STORES) -> Store:
    """The store of this name; it connects at first use.

    Raises:
        StoreUnavailable: there is no such store, or its driver is not installed.
    """
    spec = next((one for one in stores if one.name == name), None)
    if spec is None:
        raise StoreUnavailable(f"There is no store named {name}; there are {_names()}.")
    if spec.needs and find_spec(spec.needs) is None:
        raise StoreUnavailable(
            f"The store {name} needs a driver that is not installed: pip install '{PACKAGE}[{spec.extra}]'."
        )
    return spec.open(settings)


def _names() -> str:
    return ", ".join(spec.name for spec in STORES)
