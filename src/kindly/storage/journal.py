"""A journal: records that outlive the process until they are done, in a folder that several processes share.

Each process appends to files of its own and keeps them locked as long as it lives. A file that is not locked belongs to
a process that ended: its records are left over, and the next process takes them.
"""

import os
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.frozen import frozen

HEAD = struct.Struct(">II")
"""The length of a record, and its checksum: the last one may be incomplete after a crash."""
SUFFIX = ".journal"
MAX_FILE_BYTES = 4 * 1024 * 1024
"""A larger file is followed by another, so that it can be deleted when its records are done."""
NEW_S = 60.0
"""An empty file of this age has no owner."""
LOCKED_PLACE = 1 << 30
"""Where a file is locked on Windows, whose locks are on bytes that others then cannot read."""


@dataclass(eq=False, slots=True)
class JournalFile:
    """One file, locked by this process."""

    path: Path
    handle: int
    size: int = 0
    open_records: int = 0


@frozen
class JournalRecord:
    """A record that is not done yet."""

    data: bytes = field(repr=False)
    file: JournalFile


class Journal:
    """The records of this process, and those that others left."""

    def __init__(
        self, folder: Path, max_file_bytes: int = MAX_FILE_BYTES, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._folder = folder
        self._max_file_bytes = max_file_bytes
        self._clock = clock
        self._files: set[JournalFile] = set()
        self._current: JournalFile | None = None

    def append(self, data: bytes) -> JournalRecord:
        """Write a record. When this returns, it survives the end of the process.

        Raises:
            OSError: it cannot be written.
        """
        current = self._current
        if current is None or current.size >= self._max_file_bytes:
            current = self._current = self._new_file()
        record = HEAD.pack(len(data), zlib.crc32(data)) + data
        try:
            _write_all(current.handle, record)
        except OSError:
            with suppress(OSError):
                os.ftruncate(current.handle, current.size)
            raise
        current.size += len(record)
        current.open_records += 1
        return JournalRecord(data, current)

    def done(self, record: JournalRecord) -> None:
        """Forget a record; the space of a file is free when all of its records are done.

        After `close` nothing is forgotten: the file may be another process's by then.
        """
        file = record.file
        if file not in self._files:
            return
        file.open_records -= 1
        if file.open_records:
            return
        with suppress(OSError):
            os.ftruncate(file.handle, 0)
            file.size = 0
        if file is not self._current:
            self._drop(file)

    def left(self) -> list[JournalRecord]:
        """The records of processes that ended; they are this process's now."""
        found: list[JournalRecord] = []
        paths: list[Path] = []
        with suppress(OSError):
            paths = sorted(self._folder.glob(f"*{SUFFIX}"))
        for path in paths:
            with suppress(OSError):
                found += self._taken(path)
        return found

    def close(self) -> None:
        """Unlock all files; those with records that are not done stay."""
        self._current = None
        for file in list(self._files):
            self._drop(file, keep=bool(file.open_records))

    def _new_file(self) -> JournalFile:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            path = self._folder / f"{uuid4().hex}{SUFFIX}"
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
            handle = os.open(path, flags, 0o600)
            if _lock(handle):
                file = JournalFile(path, handle)
                self._files.add(file)
                return file
            os.close(handle)  # another process looked at it; that one deletes it later

    def _taken(self, path: Path) -> list[JournalRecord]:
        """The records of a file without an owner."""
        if any(path == file.path for file in self._files) or self._is_new(path):
            return []
        handle = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
        if not (_lock(handle) and path.exists()):
            os.close(handle)
            return []
        file = JournalFile(path, handle)
        self._files.add(file)
        records = [JournalRecord(data, file) for data in _complete(path.read_bytes())]
        file.open_records = len(records)
        if not records:
            self._drop(file)
        return records

    def _is_new(self, path: Path) -> bool:
        """Whether a file is empty and may just be created by a process that has not locked it yet."""
        found = path.stat()
        age = self._clock.now().timestamp() - found.st_mtime
        return not found.st_size and age < NEW_S

    def _drop(self, file: JournalFile, *, keep: bool = False) -> None:
        """Unlock a file, and delete it unless it is kept. `left` and `close` may reach it from two threads."""
        try:
            self._files.remove(file)
        except KeyError:
            return
        if not keep:
            with suppress(OSError):
                file.path.unlink()
        os.close(file.handle)


def _complete(content: bytes) -> Iterator[bytes]:
    """The records of a file, up to the first incomplete one."""
    start = 0
    while start + HEAD.size <= len(content):
        length, checksum = HEAD.unpack_from(content, start)
        start += HEAD.size
        data = content[start : start + length]
        if len(data) < length or zlib.crc32(data) != checksum:
            return
        yield data
        start += length


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _lock(handle: int) -> bool:
    """Lock a file for this process, if no other one holds it. The lock ends with the process."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, LOCKED_PLACE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
