"""The protocol version of a request's body."""

from collections.abc import Mapping

import pytest
from mcp_types import PROTOCOL_VERSION_META_KEY as KEY

from kindly.server.http.protocol_version import version_of


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ({"method": "initialize", "params": {"protocolVersion": "a"}}, "a"),
        ({"method": "tools/list", "params": {"protocolVersion": "a"}}, None),
        ({"method": "tools/list", "params": {"_meta": {KEY: "a"}}}, "a"),
        ({"method": "initialize", "params": {"protocolVersion": "a", "_meta": {KEY: "b"}}}, "b"),
        ({"method": "initialize", "params": {"protocolVersion": 7}}, None),
        ({"method": "initialize", "params": []}, None),
        ({"method": "initialize", "params": {"_meta": []}}, None),
        ({}, None),
    ],
)
def test_version_of_a_body(body: Mapping[str, object], version: str | None) -> None:
    assert version_of(body) == version
