"""DuckDB: one file that other programs can query while Kindly neither reads nor writes it."""

from typing import TYPE_CHECKING

from kindly.read.specs import StoreSpec

if TYPE_CHECKING:
    from kindly.read.store import Store, StoreSettings

FILE = "db/kindly.duckdb"


def _open(settings: "StoreSettings") -> "Store":
    from kindly.read.stores.duckdb.store import DuckStore

    assert settings.data_dir is not None  # noqa: S101 - `open_store` opens no file without a folder
    return DuckStore(settings.data_dir / FILE)


SPEC = StoreSpec(name="duckdb", open=_open, file=FILE, module="duckdb", extra="duckdb")
