"""SQLite: one file that all servers of a machine share. The default store."""

from pathlib import Path
from typing import TYPE_CHECKING

from kindly.read.specs import StoreSpec

if TYPE_CHECKING:
    from kindly.read.store import Store, StoreSettings
    from kindly.storage.file_check import FileHealth

FILE = "library.sqlite"


def _open(settings: "StoreSettings") -> "Store":
    from kindly.read.stores.sqlite.store import SqliteStore

    assert settings.data_dir is not None  # noqa: S101 - `open_store` opens no file without a folder
    return SqliteStore(settings.data_dir / FILE)


def _check_file(path: Path) -> "FileHealth":
    from kindly.storage.file_check import check_sqlite_file

    return check_sqlite_file(path)


SPEC = StoreSpec(name="sqlite", open=_open, file=FILE, check_file=_check_file)
