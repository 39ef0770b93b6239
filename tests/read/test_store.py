"""The protocol of stores comes with one log line, the same for every store."""

import pytest

from kindly.read.store import log_opening


def test_the_opening_of_a_store_is_logged_at_level_debug(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="kindly.read.store"):
        log_opening("postgres", "db.example:5432/kindly")
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("DEBUG", "store opened")
    assert (record.__dict__["kind"], record.__dict__["place"]) == (
        "postgres",
        "db.example:5432/kindly",
    )
