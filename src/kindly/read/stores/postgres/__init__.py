"""PostgreSQL with pgvector: one library for any number of servers."""

from typing import TYPE_CHECKING

from kindly.read.specs import StoreSpec

if TYPE_CHECKING:
    from kindly.read.store import Store, StoreSettings
    from kindly.storage.state import State
    from kindly.telemetry.warn_once import WarnOnce


def _open(settings: "StoreSettings") -> "Store":
    from kindly.read.stores.postgres.store import PostgresStore

    return PostgresStore(settings.url)


def _open_search_state(url: str, warnings: "WarnOnce | None") -> "State":
    from kindly.read.stores.postgres.search_state import PostgresState

    return PostgresState(url, warnings)


SPEC = StoreSpec(
    name="postgres",
    open=_open,
    schemes=("postgresql", "postgres"),
    module="psycopg",
    extra="postgres",
    search_state=_open_search_state,
)
