"""Memory: what is read is gone with the process."""

from kindly.read.memory import MemoryStore
from kindly.read.store import StoreSpec

STORE = StoreSpec(name="memory", open=lambda _: MemoryStore())
