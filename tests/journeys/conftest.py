"""Fixtures of all journeys."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _share_parsers(parsers: None) -> None:
    """Every journey uses the parsers of its file."""
