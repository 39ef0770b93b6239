"""Messages with lone surrogates are parsed; what cannot be repaired stays an error."""

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from kindly.server.surrogates import repaired, without_surrogates


def refused(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


def test_a_message_with_a_lone_surrogate_is_parsed_and_arguments_keep_theirs() -> None:
    line = (
        r'{"jsonrpc": "2.0", "id": "a\ud800", "method": "tools/call", "params": '
        r'{"name": "b\udfff", "arguments": {"c\ud800": ["d\ud800"]}}}'
    )
    item = repaired(refused(line))
    assert isinstance(item, SessionMessage)
    assert item.message.model_dump(exclude_unset=True) == {
        "jsonrpc": "2.0",
        "id": "a\ufffd",
        "method": "tools/call",
        "params": {"name": "b\ufffd", "arguments": {"c\ud800": ["d\ud800"]}},
    }


@pytest.mark.parametrize("line", ["", "{", "[" * 100_000, "[]", "7", '{"jsonrpc": "2.0"}'])
def test_what_is_no_message_stays_an_error(line: str) -> None:
    error = refused(line)
    assert repaired(error) is error


def test_other_items_pass() -> None:
    error = RuntimeError()
    assert repaired(error) is error


def test_surrogates_are_replaced_at_every_depth_and_characters_stay() -> None:
    assert without_surrogates({"a\ud800": ["\udfff😀", 1, None]}) == {
        "a\ufffd": ["\ufffd😀", 1, None]
    }
