"""What a process knows of its memory, and that it can give some back."""

import os
import subprocess
import sys
from pathlib import Path

from kindly.concurrency.process_limits import MemoryUse, memory_use


def test_memory_use_is_zero_without_proc(tmp_path: Path) -> None:
    assert memory_use(tmp_path / "missing") == MemoryUse(0, 0, 0)


def test_memory_use_is_read_from_statm(tmp_path: Path) -> None:
    statm = tmp_path / "statm"
    statm.write_text("5 4 3 2 0 6 0\n", encoding="ascii")
    size = os.sysconf("SC_PAGE_SIZE")
    assert memory_use(statm) == MemoryUse(5 * size, 4 * size, 6 * size)


def test_limits_of_the_allocator_leave_a_process_that_works() -> None:
    program = (
        "from kindly.concurrency import process_limits\n"
        "process_limits.keep_heap_small()\n"
        "process_limits.give_memory_back()\n"
        "print(len(bytes(1000)))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout.split() == [b"1000"]


def test_memory_beyond_the_limit_is_there_once_the_reserve_is_used() -> None:
    program = (
        "from kindly.concurrency.process_limits import limit_memory, use_reserve\n"
        "limit_memory(20_000_000, reserve_bytes=900_000_000)\n"
        "try:\n"
        "    bytes(500_000_000)\n"
        "except MemoryError:\n"
        "    use_reserve()\n"
        "    print(len(bytes(500_000_000)))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout.split() == [b"500000000"]


def test_reserve_can_be_used_in_part_and_is_taken_back() -> None:
    program = (
        "from kindly.concurrency.process_limits import limit_memory, release_reserve, use_reserve\n"
        "limit_memory(20_000_000, reserve_bytes=900_000_000)\n"
        "def fits(size):\n"
        "    try:\n"
        "        return len(bytes(size)) == size\n"
        "    except MemoryError:\n"
        "        return False\n"
        "use_reserve(200_000_000)\n"
        "print(fits(150_000_000), fits(500_000_000))\n"
        "release_reserve()\n"
        "print(fits(150_000_000))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout.split() == [b"True", b"False", b"False"]
