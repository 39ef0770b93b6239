"""Which stores there are, and what is said of those that cannot be opened."""

from dataclasses import replace
from pathlib import Path

import pytest

from kindly.errors import StoreUnavailable
from kindly.read import stores
from kindly.read.store import StoreSettings
from kindly.read.stores import STORES, open_store

FOLDER = Path(stores.__file__).parent


def test_every_store_stands_in_the_catalogue() -> None:
    assert {spec.name for spec in STORES} == {path.stem for path in FOLDER.glob("*.py")} - {
        "__init__"
    }


def test_an_unknown_store_is_told_with_those_there_are() -> None:
    with pytest.raises(StoreUnavailable, match="sqlite, duckdb, postgres, memory"):
        open_store("oracle", StoreSettings(data_dir=None))


def test_a_missing_driver_is_told_with_the_command_that_installs_it() -> None:
    (duck,) = (spec for spec in STORES if spec.name == "duckdb")
    missing = (replace(duck, needs="no_such_driver"),)
    with pytest.raises(
        StoreUnavailable, match=r"pip install 'kindly-web-search-mcp-server\[duckdb\]'"
    ):
        open_store("duckdb", StoreSettings(data_dir=None), missing)


def test_settings_do_not_show_the_address() -> None:
    assert "secret" not in repr(StoreSettings(None, "postgresql://user:secret@host/db"))
