"""Node and its packages, or the reason why there are none."""

import pytest

from tests.support.node_tools import Node, find


@pytest.fixture(scope="session")
def node() -> Node:
    found = find()
    if isinstance(found, str):
        pytest.skip(found)
    return found
