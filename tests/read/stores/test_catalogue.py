"""The catalogue of stores: how a setting selects one, and errors for those that cannot be opened."""

from dataclasses import replace
from pathlib import Path

import pytest

from kindly.errors import StoreUnavailable
from kindly.read import stores
from kindly.read.store import StoreSettings
from kindly.read.stores import STORES, choices, open_store, store_for

FOLDER = Path(stores.__file__).parent


def test_every_store_is_in_the_catalogue() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert {spec.name for spec in STORES} == modules | packages


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("sqlite", "sqlite"),
        ("memory", "memory"),
        ("postgresql://host/db", "postgres"),
        ("postgres://host/db", "postgres"),
        ("postgres", None),
        ("sqlite://file", None),
        ("", None),
    ],
)
def test_a_name_or_an_address_selects_a_store(value: str, name: str | None) -> None:
    spec = store_for(value)
    assert (spec and spec.name) == name


def test_help_lists_names_first_and_then_addresses() -> None:
    assert choices() == "sqlite, duckdb, memory or a postgresql:// address"
    assert choices(STORES[:1]) == "sqlite"


def test_only_the_store_in_memory_ends_with_the_program() -> None:
    assert [spec.name for spec in STORES if not spec.is_persistent] == ["memory"]


def test_the_error_for_an_unknown_store_lists_all() -> None:
    with pytest.raises(StoreUnavailable, match="sqlite, duckdb, postgres, memory"):
        open_store("oracle", StoreSettings(data_dir=None))


def test_the_error_for_a_missing_driver_has_the_command_that_installs_it() -> None:
    (duck,) = (spec for spec in STORES if spec.name == "duckdb")
    missing = (replace(duck, module="no_such_driver"),)
    with pytest.raises(
        StoreUnavailable, match=r"pip install 'kindly-web-search-mcp-server\[duckdb\]'"
    ):
        open_store("duckdb", StoreSettings(data_dir=None), missing)


def test_settings_do_not_show_the_address() -> None:
    assert "secret" not in repr(StoreSettings(None, "postgresql://user:secret@host/db"))
