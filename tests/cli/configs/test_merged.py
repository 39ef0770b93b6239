"""The changed text is parsed again and must have the expected value."""

import json

import pytest

from kindly.cli.configs import Malformed, merged


class Careless:
    """A format that makes wrong changes."""

    def __init__(self, outcome: str) -> None:
        self._outcome = outcome

    def load(self, text: str) -> dict[str, object]:
        try:
            tree: dict[str, object] = json.loads(text)
        except ValueError:
            raise Malformed(1, "not JSON") from None
        return tree

    def put(self, text: str, path: tuple[str, ...], value: object) -> str:
        return self._outcome

    def remove(self, text: str, path: tuple[str, ...]) -> str:
        return text

    def masked(self, text: str) -> str:
        return text


@pytest.mark.parametrize("outcome", ["{", '{"a": {"b": {"x": 1}}}'], ids=["broken", "lossy"])
def test_a_change_with_a_wrong_result_is_refused(outcome: str) -> None:
    with pytest.raises(Malformed):
        merged(Careless(outcome), '{"kept": 1}', ("a", "b"), {"x": 1})
