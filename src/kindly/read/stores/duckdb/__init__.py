"""DuckDB: one file that other programs can query while Kindly neither reads nor writes it."""

from typing import TYPE_CHECKING

from kindly.read.specs import StoreSpec

if TYPE_CHECKING:
    from kindly.read.store import Store, StoreSettings

FILE = "db/kindly.duckdb"


def _open(settings: "StoreSettings") -> "Store":
    from kindly.read.stores.duckdb.store import DuckStore
    from kindly.read.stores.memory.store import MemoryStore

    if settings.data_dir is None:
        return MemoryStore()
    return DuckStore(settings.data_dir / FILE)


SPEC = StoreSpec(name="duckdb", open=_open, file=FILE, module="duckdb", extra="duckdb")
