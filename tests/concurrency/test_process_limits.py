"""What a process knows of its memory, and that it can give some back."""

import os
from pathlib import Path

from kindly.concurrency.process_limits import MemoryUse, give_memory_back, memory_use


def test_memory_use_is_zero_without_proc(tmp_path: Path) -> None:
    assert memory_use(tmp_path / "missing") == MemoryUse(0, 0, 0)


def test_memory_use_is_read_from_statm(tmp_path: Path) -> None:
    statm = tmp_path / "statm"
    statm.write_text("5 4 3 2 0 6 0\n", encoding="ascii")
    size = os.sysconf("SC_PAGE_SIZE")
    assert memory_use(statm) == MemoryUse(5 * size, 4 * size, 6 * size)


def test_memory_is_given_back_without_harm() -> None:
    before = bytes(10)
    give_memory_back()
    assert before == bytes(10)
