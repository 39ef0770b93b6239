"""Pieces of JSON Schema that the result schemas of tools are made of."""

from typing import Any

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
INTEGER: Json = {"type": "integer"}
BOOLEAN: Json = {"type": "boolean"}
OBJECT: Json = {"type": "object"}


def array(items: Json) -> Json:
    """A list of such items."""
    return {"type": "array", "items": items}


def nullable(schema: Json) -> Json:
    """Such a value, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def record(required: Json, optional: Json | None = None) -> Json:
    """An object with properties that it always has, and others that it may have."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
    }


def one_or_list(one: Json, name: str) -> Json:
    """Such an object or, for a call with several inputs, an object with a list of such objects."""
    return {
        "type": "object",
        "properties": one["properties"] | {name: array(OBJECT)},
        "anyOf": [{"required": one["required"]}, {"required": [name]}],
    }


TEXTS = array(TEXT)
TEXT_OR_NULL = nullable(TEXT)
INTEGER_OR_NULL = nullable(INTEGER)
