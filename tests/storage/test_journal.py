"""Records survive their process until they are done, and each is taken by one other process only."""

import os
from pathlib import Path

import pytest

from kindly.storage.journal import NEW_S, SUFFIX, Journal


def left(folder: Path) -> list[bytes]:
    """What a new process finds, and gives back."""
    journal = Journal(folder)
    found = [record.data for record in journal.left()]
    journal.close()
    return found


def test_records_of_a_process_that_ended_are_left_in_their_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for data in (b"one", b"", b"three" * 1000):
        journal.append(data)
    journal.close()
    assert left(tmp_path) == [b"one", b"", b"three" * 1000]
    assert len(left(tmp_path)) == 3


def test_records_of_a_living_process_are_its_own(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(b"mine")
    assert left(tmp_path) == []
    assert journal.left() == []


def test_what_one_process_takes_another_does_not_get(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first.append(b"x")
    first.close()
    taker = Journal(tmp_path)
    (record,) = taker.left()
    assert left(tmp_path) == []
    taker.done(record)
    taker.close()
    assert left(tmp_path) == []
    assert not list(tmp_path.iterdir())


def test_a_record_that_is_done_does_not_come_back_when_its_file_is_done(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    one, two = journal.append(b"one"), journal.append(b"two")
    journal.done(one)
    journal.done(two)
    three = journal.append(b"three")
    journal.close()
    assert left(tmp_path) == [three.data]


def test_large_files_are_followed_by_others_and_deleted_when_done(tmp_path: Path) -> None:
    journal = Journal(tmp_path, max_file_bytes=10)
    records = [journal.append(b"x" * 20) for _ in range(5)]
    assert len(list(tmp_path.iterdir())) == 5
    for record in records[:4]:
        journal.done(record)
    assert len(list(tmp_path.iterdir())) == 1
    journal.close()
    assert left(tmp_path) == [b"x" * 20]


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_a_record_that_was_cut_by_a_crash_is_not_read(tmp_path: Path, cut: int) -> None:
    journal = Journal(tmp_path)
    journal.append(b"whole")
    journal.append(b"cut")
    journal.close()
    (file,) = tmp_path.iterdir()
    os.truncate(file, file.stat().st_size - cut)
    assert left(tmp_path) == [b"whole"]


def test_a_damaged_record_ends_its_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(b"whole")
    journal.append(b"spoiled")
    journal.close()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes().replace(b"spoiled", b"spoilt!"))
    assert left(tmp_path) == [b"whole"]


def test_an_empty_file_is_deleted_when_it_cannot_be_a_new_one(tmp_path: Path) -> None:
    new, old = tmp_path / f"new{SUFFIX}", tmp_path / f"old{SUFFIX}"
    new.touch()
    old.touch()
    age = old.stat().st_mtime - 2 * NEW_S
    os.utime(old, (age, age))
    assert left(tmp_path) == []
    assert list(tmp_path.iterdir()) == [new]


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        Journal(tmp_path / "file" / "folder").append(b"x")


def test_nothing_is_left_where_there_was_no_journal(tmp_path: Path) -> None:
    assert left(tmp_path / "missing") == []


def test_a_record_that_is_done_after_the_end_is_left_to_the_next_process(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    record = journal.append(b"late")
    journal.close()
    journal.done(record)
    journal.close()
    assert left(tmp_path) == [b"late"]
