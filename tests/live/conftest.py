"""Tests that talk to the real internet, off unless `RUN_LIVE_TESTS=1`."""

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/live/" in item.path.as_posix():
            item.add_marker(pytest.mark.live)
            if os.environ.get("RUN_LIVE_TESTS") != "1":
                item.add_marker(pytest.mark.skip(reason="talks to the internet: RUN_LIVE_TESTS=1"))
