"""The library in memory: it is lost when the process ends."""

from typing import TYPE_CHECKING

from kindly.read.specs import StoreSpec

if TYPE_CHECKING:
    from kindly.read.store import Store, StoreSettings


def _open(_: "StoreSettings") -> "Store":
    from kindly.read.store import log_opening
    from kindly.read.stores.memory.store import MemoryStore

    log_opening("memory", "memory")
    return MemoryStore()


SPEC = StoreSpec(name="memory", open=_open)
