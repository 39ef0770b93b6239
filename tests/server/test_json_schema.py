"""Pieces of JSON Schema accept the values that they describe."""

import jsonschema
import pytest

from kindly.server.json_schema import INTEGER_OR_NULL, NUMBER, TEXT, TEXTS, array, record

SCHEMA = record({"id": TEXT, "tags": TEXTS}, {"size": INTEGER_OR_NULL, "marks": array(NUMBER)})


@pytest.mark.parametrize(
    "value",
    [{"id": "a", "tags": []}, {"id": "a", "tags": ["b"], "size": None, "marks": [0.5]}],
    ids=["required only", "all"],
)
def test_a_record_accepts_its_properties(value: object) -> None:
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(value)) == []


@pytest.mark.parametrize(
    "value",
    [{"id": "a"}, {"id": 1, "tags": []}, {"id": "a", "tags": [], "size": "x"}],
    ids=["missing", "wrong type", "neither number nor null"],
)
def test_a_record_rejects_other_values(value: object) -> None:
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(value)) != []
